//! The script: which action a message selects. The older suite and its 1.0 successor use a prefix of
//! the message's id, ACTS uses a prefix of its first text.

use trackway::{Message, Part};

/// What the subject does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
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
    Make(Product),
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
pub(super) enum Product {
    Text(&'static str),
    File,
    FileUrl,
    Data,
    /// One text in two pieces.
    Chunks,
}

/// By the message's id. The longest matching prefix wins.
const BY_ID: &[(&str, Act)] = &[
    ("tck-complete-task", Act::Complete),
    ("tck-input-required", Act::Ask),
    ("tck-reject-task", Act::Reject),
    ("tck-message-response", Act::Answer),
    ("tck-artifact-text", Act::Make(Product::Text("Generated text content"))),
    ("tck-artifact-file", Act::Make(Product::File)),
    ("tck-artifact-file-url", Act::Make(Product::FileUrl)),
    ("tck-artifact-data", Act::Make(Product::Data)),
    ("tck-stream-001", Act::Make(Product::Text("Stream hello from TCK"))),
    ("tck-stream-002", Act::Complete),
    ("tck-stream-003", Act::Make(Product::Text("Stream task lifecycle"))),
    ("tck-stream-ordering-001", Act::Make(Product::Text("Ordered output"))),
    ("tck-stream-artifact-text", Act::Make(Product::Text("Streamed text content"))),
    ("tck-stream-artifact-file", Act::Make(Product::File)),
    ("tck-stream-artifact-chunked", Act::Make(Product::Chunks)),
    ("test-resubscribe-message-id", Act::Linger),
];

/// By the first text. The longest matching prefix wins.
const BY_TEXT: &[(&str, Act)] = &[
    ("tck-complete-task", Act::Complete),
    ("tck-input-required", Act::Ask),
    ("tck-reject-task", Act::Reject),
    ("tck-message-response", Act::Answer),
    ("tck-artifact-text", Act::Make(Product::Text("Generated text content"))),
    ("tck-artifact-file", Act::Make(Product::File)),
    ("tck-artifact-file-url", Act::Make(Product::FileUrl)),
    ("tck-artifact-data", Act::Make(Product::Data)),
    ("tck-long-running", Act::Work),
    ("tck-multi-turn", Act::Converse),
    ("tck-cancel", Act::Hold),
    ("tck-stream-basic", Act::Make(Product::Text("Streamed content"))),
    ("tck-stream-chunked", Act::Make(Product::Chunks)),
    ("tck-task-failure", Act::Fail),
];

/// Prefix of ids of the 1.0 suite. An id that names no action means the simplest one.
const SUITE_ID: &str = "tck-";

/// The action of a message that begins a run. The suite for 0.3 names almost no actions. It sends
/// more messages to its tasks and cancels them, also after a blocking send, so the tasks must not
/// end. It also expects to see them working first.
pub(super) fn opening(message: &Message) -> Act {
    let otherwise =
        if message.id.as_str().starts_with(SUITE_ID) { Act::Complete } else { Act::Stay };
    named(message).unwrap_or(otherwise)
}

/// The action of a message that answers a question: any action may follow, and a plain answer
/// completes.
pub(super) fn next(message: &Message) -> Act {
    named(message).unwrap_or(Act::Complete)
}

/// The action of a text that came without a message.
pub(super) fn of_text(text: &str) -> Option<Act> {
    find(BY_TEXT, text)
}

pub(super) fn first_text(message: &Message) -> Option<&str> {
    message.parts.iter().find_map(Part::as_text)
}

fn named(message: &Message) -> Option<Act> {
    find(BY_ID, message.id.as_str()).or_else(|| of_text(first_text(message)?))
}

fn find(table: &[(&str, Act)], text: &str) -> Option<Act> {
    let fitting = table.iter().filter(|(beginning, _)| text.starts_with(beginning));
    fitting.max_by_key(|(beginning, _)| beginning.len()).map(|(_, act)| *act)
}

#[cfg(test)]
mod tests;
