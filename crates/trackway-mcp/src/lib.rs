//! The MCP door: workflows that an outside agent walks with tokens.
//!
//! A call goes through `door` (the caller, the tool), `arguments` (checked by us) and `tools` (one file
//! each) to the guided runs of `trackway-runtime`. `position_answer` and `text` render the answer,
//! `refusal` renders a refusal.

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
pub use position_answer::{current_stamp, describe_position};
pub use stdio::StdioError;
pub use token::{
    AttemptRef as AckPlace, BundleSigner, KeyRing, KeyRingError, KeyRotation, NodeRef as NodePlace,
    TokenError,
};
pub use tools::{CheckpointSwitches, inspect::describe_workflow};
