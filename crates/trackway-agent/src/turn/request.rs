//! What the model is shown: the turn's conversation in a form that every provider takes.

use std::collections::BTreeMap;

use super::Turn;
use crate::{Entry, Request, ToolSpec, pieces};

/// What is offered to the model with this request. It is made anew before every model call.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// From [`crate::Toolset::specs`].
    pub tools: Vec<ToolSpec>,
    /// Paragraphs behind the agent's prompt.
    pub additions: Vec<String>,
    /// From [`crate::Provider::takes_images`]. Images are left out with a line that says so.
    pub takes_images: bool,
}

impl Turn {
    /// The request of the next model call.
    pub fn request(&self, offer: Offer) -> Request {
        let paragraphs = std::iter::once(&self.prompt).chain(&offer.additions);
        let system: Vec<&str> =
            paragraphs.map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        let mut entries = distinct(joined(&self.entries));
        if !offer.takes_images {
            pieces::leave_images_out(&mut entries);
        }
        Request {
            system: system.join("\n\n"),
            entries,
            tools: offer.tools,
            output: self.output.clone(),
            max_tokens: None,
        }
    }
}

/// Entries in which the user never speaks twice in a row: some servers refuse that.
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

/// Entries in which no id names two calls. Ids are unique within an answer only, and some servers
/// refuse a conversation that repeats one.
fn distinct(mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut uses: BTreeMap<String, u32> = BTreeMap::new();
    // Of the answer that results belong to: what its calls are named now.
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for entry in &mut entries {
        match entry {
            Entry::User { .. } => {}
            Entry::Model { calls, .. } => {
                renamed.clear();
                for call in calls {
                    let given = call.id.clone();
                    let mut fresh = given.clone();
                    while uses.contains_key(&fresh) {
                        let number = uses.entry(given.clone()).or_insert(1);
                        *number += 1;
                        fresh = format!("{given}_{number}");
                    }
                    uses.insert(fresh.clone(), 1);
                    call.id.clone_from(&fresh);
                    renamed.insert(given, fresh);
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
