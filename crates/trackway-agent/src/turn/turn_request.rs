//! The request for the model: the turn's conversation in a form that every provider accepts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::AgentTurn;
use crate::{
    ConversationEntry, EndedTaskNote, ModelRequest, OpenQuestionNote, ToolSpec, ToolUse, content_pieces,
    turn_record::make_unique_id,
};

/// The context of this request. It is rebuilt before every model call.
#[derive(Debug, Clone, Default)]
pub struct TurnRequestContext {
    /// From [`crate::Toolset::tool_specs`].
    pub tools: Vec<Arc<ToolSpec>>,
    /// Questions that wait for the user's answer; the model may send one on the user's behalf.
    pub open: Vec<OpenQuestionNote>,
    /// Tasks that ended since the previous turn.
    pub ended: Vec<EndedTaskNote>,
    /// From [`crate::ModelProvider::accepts_images`]. If false, a line replaces each image.
    pub takes_images: bool,
    /// From [`crate::Toolset::offers_peer_workflow`]. If true, the prompt explains the two ways of input.
    pub offers_peer_workflow: bool,
}

/// How a model gives a workflow of a peer its input. In the prompt exactly when such a tool is offered (I8).
pub const WORKFLOW_INPUT_NOTE: &str = "\
Tools named workflow_... run a workflow of another agent. There are two ways to give a workflow its input. \
Use one of them in each call:
- Parameters: fill in the tool's own parameters. The tool's schema marks all of them as optional, but the \
workflow checks them: give every value that it needs.
- Artifact: set input_artifact to the filename of an existing artifact, such as a JSON, YAML or CSV file \
that the user attached or that an earlier call made, and leave out all other parameters.
If the data is already in a file, pass its filename as input_artifact; do not copy its content into \
parameters. If both are given, the artifact is used and the other parameters are ignored.";

impl AgentTurn {
    /// The request of the next model call.
    pub fn build_model_request(&self, request_context: TurnRequestContext) -> ModelRequest {
        let mut entries = with_unique_call_ids(merge_adjacent_user_entries(&self.entries));
        if !request_context.takes_images {
            content_pieces::replace_images_with_text(&mut entries);
        }
        let prompt = Some(self.prompt.trim()).filter(|prompt| !prompt.is_empty());
        let note = request_context.offers_peer_workflow.then_some(WORKFLOW_INPUT_NOTE);
        ModelRequest {
            system: prompt.into_iter().chain(note).collect::<Vec<_>>().join("\n\n"),
            open: request_context.open,
            ended: request_context.ended,
            entries,
            tools: request_context.tools,
            output: self.output.clone(),
            max_tokens: None,
        }
    }
}

/// Merges consecutive entries of the user: some servers reject them.
fn merge_adjacent_user_entries(entries: &[ConversationEntry]) -> Vec<ConversationEntry> {
    let mut out: Vec<ConversationEntry> = Vec::with_capacity(entries.len());
    for entry in entries {
        match (out.last_mut(), entry) {
            (Some(ConversationEntry::User { pieces: before }), ConversationEntry::User { pieces }) => {
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
fn with_unique_call_ids(mut entries: Vec<ConversationEntry>) -> Vec<ConversationEntry> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for call in entries.iter().flat_map(tool_calls_of_entry) {
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
            ConversationEntry::User { .. } => {}
            ConversationEntry::Model { calls, .. } => {
                renamed.clear();
                for call in calls {
                    let Some(count) = left.get_mut(&call.id) else { continue };
                    *count -= 1;
                    if *count > 0 {
                        let fresh = make_unique_id(&call.id, |id| taken.contains(id));
                        taken.insert(fresh.clone());
                        renamed.insert(std::mem::replace(&mut call.id, fresh.clone()), fresh);
                    }
                }
            }
            ConversationEntry::Result { call, .. } => {
                if let Some(fresh) = renamed.get(call) {
                    call.clone_from(fresh);
                }
            }
        }
    }
    entries
}

fn tool_calls_of_entry(entry: &ConversationEntry) -> &[ToolUse] {
    match entry {
        ConversationEntry::Model { calls, .. } => calls,
        ConversationEntry::User { .. } | ConversationEntry::Result { .. } => &[],
    }
}
