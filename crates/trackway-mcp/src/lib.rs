//! The MCP door: workflows that an outside agent walks with tokens.
//!
//! A call goes through `door` (the caller, the tool), `arguments` (checked by us) and `tools` (one file
//! each) to the guided runs of `trackway-runtime`. `position_answer` and `text` render the answer,
//! `refusal` renders a refusal.

mod arguments;
mod batch_rules;
mod confirmation;
mod door;
mod http;
mod jsonrpc;
mod markdown_quoting;
mod position_answer;
mod recap;
mod refusal;
mod stdio;
#[cfg(test)]
mod testing;
mod text;
mod token;
mod tools;
mod unparsed_messages;

pub use door::McpDoor;
pub use http::McpHttpDoor;
pub use position_answer::{current_stamp, describe_position};
pub use stdio::StdioError;
pub use token::{
    AttemptRef as AckPlace, BundleSigner, KeyRing, KeyRingError, KeyRotation, NodeRef as NodePlace,
    PurposeKey, TokenError,
};
pub use tools::{CheckpointSwitches, inspect_tool::render_workflow_json_and_text};
