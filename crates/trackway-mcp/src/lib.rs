//! The MCP door: workflows that an outside agent walks with tokens.
//!
//! A call goes `door` (who asks, which tool) → `arguments` (checked by us) → `tools` (one file each) →
//! the guide of `trackway-runtime`; what comes back is written by `answer` and `text`, or by `refusal`.

mod arguments;
mod batch;
mod confirmation;
mod door;
mod http;
mod jsonrpc;
mod position_answer;
mod quoting;
mod recap;
mod refusal;
mod stdio;
#[cfg(test)]
mod testing;
mod text;
mod token;
mod tools;
mod unparsed;

pub use door::McpDoor;
pub use http::HttpDoor;
pub use position_answer::{current_seal, describe_position};
pub use stdio::StdioError;
pub use token::{
    AttemptRef as AckPlace, BundleSigner, KEYS_FILE, KeyRing, KeyRingError, KeyRotation,
    NodeRef as NodePlace, TokenError,
};
pub use tools::{CheckpointSwitches, inspect::describe_workflow};
