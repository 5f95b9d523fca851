//! A question of a remote task, as it is asked here. Pure.

use serde_json::{Value, json};
use trackway_a2a_client::{Part, TaskState, TaskStatus};
use trackway_domain::{InterruptReason, MessagePartContent};

/// The metadata of a part that says what an answer must be.
const SCHEMA: &str = "schema";

/// Text of a remote question that is shown.
/// Limit (Mesh): text of a remote question, in characters.
const TEXT_CHARS_MAX: usize = 8_192;

/// Parts of a remote question that are shown.
/// Limit (Mesh): parts of a remote question.
const PARTS_MAX: usize = 16;

/// What a person is asked on behalf of a peer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RemoteQuestion {
    pub(super) reason: InterruptReason,
    pub(super) prompt: Vec<Part>,
    pub(super) schema: Value,
}

impl RemoteQuestion {
    /// The question begins with the peer's name, because the text is not ours.
    pub(super) fn from_status(peer: &str, status: &TaskStatus) -> Self {
        let reason = match status.state {
            TaskState::AuthRequired => InterruptReason::AuthRequired,
            _ => InterruptReason::InputRequired,
        };
        let parts = status.message.as_ref().map(|message| message.parts.as_slice()).unwrap_or_default();
        let schema = parts.iter().find_map(|part| part.metadata.get(SCHEMA)).cloned();
        // An agent that does not say what it expects reads a text.
        let schema = schema.unwrap_or_else(|| json!({ "type": "string" }));
        let mut prompt = vec![Part::text(format!("{peer} asks:"))];
        for part in parts.iter().take(PARTS_MAX) {
            match (&part.content, prompt.last_mut()) {
                (MessagePartContent::Text(text), _) if text.is_empty() => {}
                (MessagePartContent::Text(text), Some(first)) if is_heading(first, peer) => {
                    *first = Part::text(format!("{peer} asks: {}", shorten(text)));
                }
                (MessagePartContent::Text(text), _) => prompt.push(Part::text(shorten(text))),
                (MessagePartContent::Data(_) | MessagePartContent::File(_), _) => prompt.push(part.clone()),
            }
        }
        Self { reason, prompt, schema }
    }
}

/// The answer as the remote task gets it.
pub(super) fn answer_part(answer: Value) -> Part {
    match answer {
        Value::String(text) => Part::text(text),
        other => Part::data(other),
    }
}

fn is_heading(part: &Part, peer: &str) -> bool {
    part.as_text().is_some_and(|text| text.strip_prefix(peer) == Some(" asks:"))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
