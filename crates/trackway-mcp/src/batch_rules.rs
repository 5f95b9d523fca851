//! Rules for batches on every transport. A batch is a list of messages sent at once; only revision
//! 2025-03-26 has batches.

use serde_json::Value;

/// The one revision that has batches.
pub(crate) const BATCH_REVISION: &str = "2025-03-26";

/// The answers are sent together, so the first answer waits for the last.
///
/// Limit (MCP): messages in a batch.
const MESSAGES_MAX: usize = 64;

/// The whole batch is in memory.
///
/// Limit (MCP): bytes of a batch.
pub(crate) const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The error text for a batch that is larger than [`BATCH_BYTES_MAX`].
pub(crate) const BATCH_TOO_LARGE: &str = "the batch is larger than 4 MiB, or broke off";

/// Why a whole batch is refused, if it is.
pub(crate) fn batch_refusal_reason(messages: &[Value]) -> Option<&'static str> {
    if messages.is_empty() {
        return Some("the batch is empty");
    }
    if messages.len() > MESSAGES_MAX {
        return Some("the batch has more than 64 messages");
    }
    let is_greeting = |message: &Value| message["method"] == "initialize";
    messages.iter().any(is_greeting).then_some("initialize comes alone, not in a batch")
}
