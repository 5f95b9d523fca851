//! The script: which action a message selects. The older suite and its 1.0 successor use a prefix of
//! the message's id, ACTS uses a prefix of its first text.

use trackway::{Message, Part};

/// What the subject does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TckAction {
    /// Completes immediately, with a short text.
    Complete,
    /// Asks for input.
    Ask,
    /// Asks until the answer is `done`.
    Converse,
    Reject,
    Fail,
    /// Answers with a message; there is no run.
    Answer,
    /// Produces something and completes.
    Make(TckArtifactKind),
    /// Stays active long enough for a client to lose its stream and resubscribe; then completes.
    Linger,
    /// Works for a moment, then asks until the answer is `done`: a client can send messages and
    /// cancel at any time.
    Stay,
    /// Works long enough for a poller to see it.
    Work,
    /// Works until it is canceled.
    Hold,
}

/// What it produces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TckArtifactKind {
    Text(&'static str),
    File,
    FileUrl,
    Data,
    /// One text in two pieces.
    Chunks,
}

/// By the message's id. The longest matching prefix wins.
const BY_ID: &[(&str, TckAction)] = &[
    ("tck-complete-task", TckAction::Complete),
    ("tck-input-required", TckAction::Ask),
    ("tck-reject-task", TckAction::Reject),
    ("tck-message-response", TckAction::Answer),
    ("tck-artifact-text", TckAction::Make(TckArtifactKind::Text("Generated text content"))),
    ("tck-artifact-file", TckAction::Make(TckArtifactKind::File)),
    ("tck-artifact-file-url", TckAction::Make(TckArtifactKind::FileUrl)),
    ("tck-artifact-data", TckAction::Make(TckArtifactKind::Data)),
    ("tck-stream-001", TckAction::Make(TckArtifactKind::Text("Stream hello from TCK"))),
    ("tck-stream-002", TckAction::Complete),
    ("tck-stream-003", TckAction::Make(TckArtifactKind::Text("Stream task lifecycle"))),
    ("tck-stream-ordering-001", TckAction::Make(TckArtifactKind::Text("Ordered output"))),
    ("tck-stream-artifact-text", TckAction::Make(TckArtifactKind::Text("Streamed text content"))),
    ("tck-stream-artifact-file", TckAction::Make(TckArtifactKind::File)),
    ("tck-stream-artifact-chunked", TckAction::Make(TckArtifactKind::Chunks)),
    ("test-resubscribe-message-id", TckAction::Linger),
];

/// By the first text. The longest matching prefix wins.
const BY_TEXT: &[(&str, TckAction)] = &[
    ("tck-complete-task", TckAction::Complete),
    ("tck-input-required", TckAction::Ask),
    ("tck-reject-task", TckAction::Reject),
    ("tck-message-response", TckAction::Answer),
    ("tck-artifact-text", TckAction::Make(TckArtifactKind::Text("Generated text content"))),
    ("tck-artifact-file", TckAction::Make(TckArtifactKind::File)),
    ("tck-artifact-file-url", TckAction::Make(TckArtifactKind::FileUrl)),
    ("tck-artifact-data", TckAction::Make(TckArtifactKind::Data)),
    ("tck-long-running", TckAction::Work),
    ("tck-multi-turn", TckAction::Converse),
    ("tck-cancel", TckAction::Hold),
    ("tck-stream-basic", TckAction::Make(TckArtifactKind::Text("Streamed content"))),
    ("tck-stream-chunked", TckAction::Make(TckArtifactKind::Chunks)),
    ("tck-task-failure", TckAction::Fail),
];

/// Prefix of ids of the 1.0 suite. An id that names no action means the simplest one.
const SUITE_ID: &str = "tck-";

/// The action of a message that begins a run. The suite for 0.3 names almost no actions. It sends
/// more messages to its tasks and cancels them, also after a blocking send, so the tasks must not
/// end. It also expects to see them working first.
pub(super) fn action_for_first_message(message: &Message) -> TckAction {
    let otherwise =
        if message.id.as_str().starts_with(SUITE_ID) { TckAction::Complete } else { TckAction::Stay };
    action_from_message(message).unwrap_or(otherwise)
}

/// The action of a message that answers a question: any action may follow, and a plain answer
/// completes.
pub(super) fn action_for_answer_message(message: &Message) -> TckAction {
    action_from_message(message).unwrap_or(TckAction::Complete)
}

/// The action of a text that came without a message.
pub(super) fn action_from_text(text: &str) -> Option<TckAction> {
    find_action_by_longest_prefix(BY_TEXT, text)
}

pub(super) fn first_text_part(message: &Message) -> Option<&str> {
    message.parts.iter().find_map(Part::as_text)
}

fn action_from_message(message: &Message) -> Option<TckAction> {
    find_action_by_longest_prefix(BY_ID, message.id.as_str())
        .or_else(|| action_from_text(first_text_part(message)?))
}

fn find_action_by_longest_prefix(table: &[(&str, TckAction)], text: &str) -> Option<TckAction> {
    let fitting = table.iter().filter(|(beginning, _)| text.starts_with(beginning));
    fitting.max_by_key(|(beginning, _)| beginning.len()).map(|(_, act)| *act)
}

#[cfg(test)]
mod tests;
