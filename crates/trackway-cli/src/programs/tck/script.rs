//! The script: which act a message asks for. The suites signal it in band, the older one and its 1.0
//! successor by the beginning of the message's id, ACTS by the beginning of its first text.

use trackway::{Message, Part};

/// What the subject does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Completes at once, with a word.
    Complete,
    /// Asks for input.
    Ask,
    /// Asks until it is told `done`.
    Converse,
    Reject,
    Fail,
    /// Answers with a message; there is no run.
    Answer,
    /// Produces something and completes.
    Make(Product),
    /// Stays active for as long as a client needs to lose its stream and take it up again; then
    /// completes.
    Linger,
    /// Works for a moment, then asks until it is told `done`: it can be added to and canceled for as
    /// long as a client likes.
    Stay,
    /// Works for a while that a poller can see.
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

/// By the message's id. The longest beginning that fits wins.
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

/// By the first text. The longest beginning that fits wins.
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

/// Ids of the 1.0 suite begin like this. One that names no act means the plainest of them.
const SUITE_ID: &str = "tck-";

/// What a message asks for that begins a run. The suite for 0.3 names hardly any act: it sends more
/// messages to its tasks and cancels them, also after a send that waits, so they must not end; and it
/// wants to see them work first.
pub(super) fn opening(message: &Message) -> Act {
    let otherwise =
        if message.id.as_str().starts_with(SUITE_ID) { Act::Complete } else { Act::Stay };
    named(message).unwrap_or(otherwise)
}

/// What a message asks for that answers a question: any act may follow, and a plain answer completes.
pub(super) fn next(message: &Message) -> Act {
    named(message).unwrap_or(Act::Complete)
}

/// What a text asks for that came without a message.
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
