//! What holds for a batch on every transport: a list of messages at once, which revision 2025-03-26 has and
//! the later ones have not.

use serde_json::Value;

/// The one revision that has batches.
pub(crate) const BATCH_REVISION: &str = "2025-03-26";

/// They are answered together, and the first answer waits for the last.
///
/// Limit (MCP): messages in a batch.
const MESSAGES_MAX: usize = 64;

/// A batch is in memory as a whole.
///
/// Limit (MCP): bytes of a batch.
pub(crate) const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What is said to a batch that is larger than that.
pub(crate) const BATCH_TOO_LARGE: &str = "the batch is larger than 4 MiB, or broke off";

/// Why nothing of a batch is taken.
pub(crate) fn batch_refusal(messages: &[Value]) -> Option<&'static str> {
    if messages.is_empty() {
        return Some("the batch is empty");
    }
    if messages.len() > MESSAGES_MAX {
        return Some("the batch has more than 64 messages");
    }
    let is_greeting = |message: &Value| message["method"] == "initialize";
    messages.iter().any(is_greeting).then_some("initialize comes alone, not in a batch")
}
