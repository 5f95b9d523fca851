//! The request for the model: the turn's conversation in a form that every provider accepts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::Turn;
use crate::{Call, EndedTask, Entry, OpenNote, Request, ToolSpec, pieces, record::free_id};

/// The context of this request. It is rebuilt before every model call.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// From [`crate::Toolset::specs`].
    pub tools: Vec<Arc<ToolSpec>>,
    /// Questions that wait for the user's answer; the model may send one on the user's behalf.
    pub open: Vec<OpenNote>,
    /// Tasks that ended since the previous turn.
    pub ended: Vec<EndedTask>,
    /// From [`crate::Provider::takes_images`]. If false, a line replaces each image.
    pub takes_images: bool,
}

impl Turn {
    /// The request of the next model call.
    pub fn request(&self, offer: Offer) -> Request {
        let mut entries = distinct(joined(&self.entries));
        if !offer.takes_images {
            pieces::leave_images_out(&mut entries);
        }
        Request {
            system: self.prompt.trim().to_owned(),
            open: offer.open,
            ended: offer.ended,
            entries,
            tools: offer.tools,
            output: self.output.clone(),
            max_tokens: None,
        }
    }
}

/// Merges consecutive entries of the user: some servers reject them.
fn joined(entries: &[Entry]) -> Vec<Entry> {
    let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        match (out.last_mut(), entry) {
            (Some(Entry::User { pieces: before }), Entry::User { pieces }) => {
                before.extend_from_slice(pieces);
            }
            _ => out.push(entry.clone()),
        }
    }
    out
}

/// Makes the ids of all calls unique. Ids are unique only within an answer, and some servers reject a
/// conversation that repeats one. The last call with an id keeps it unchanged; earlier ones get a
/// number.
fn distinct(mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for call in entries.iter().flat_map(calls) {
        *left.entry(call.id.clone()).or_default() += 1;
    }
    if left.values().all(|count| *count == 1) {
        return entries;
    }
    let mut taken: BTreeSet<String> = left.keys().cloned().collect();
    // The current ids of the calls of the answer that the results belong to.
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for entry in &mut entries {
        match entry {
            Entry::User { .. } => {}
            Entry::Model { calls, .. } => {
                renamed.clear();
                for call in calls {
                    let Some(count) = left.get_mut(&call.id) else { continue };
                    *count -= 1;
                    if *count > 0 {
                        let fresh = free_id(&call.id, |id| taken.contains(id));
                        taken.insert(fresh.clone());
                        renamed.insert(std::mem::replace(&mut call.id, fresh.clone()), fresh);
                    }
                }
            }
            Entry::Result { call, .. } => {
                if let Some(fresh) = renamed.get(call) {
                    call.clone_from(fresh);
                }
            }
        }
    }
    entries
}

fn calls(entry: &Entry) -> &[Call] {
    match entry {
        Entry::Model { calls, .. } => calls,
        Entry::User { .. } | Entry::Result { .. } => &[],
    }
}
