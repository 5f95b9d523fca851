//! The MCP door: workflows that an outside agent walks with tokens.
//!
//! A call goes `door` (who asks, which tool) → `arguments` (checked by us) → `tools` (one file each) →
//! the guide of `trackway-runtime`; what comes back is written by `answer` and `text`, or by `refusal`.

mod answer;
mod arguments;
mod batch;
mod confirm;
mod door;
mod http;
mod jsonrpc;
mod quoted;
mod recap;
mod refusal;
mod stdio;
#[cfg(test)]
mod testing;
mod text;
mod token;
mod tools;
mod unread;

pub use answer::{handed_over, seal};
pub use door::Door;
pub use http::HttpDoor;
pub use stdio::StdioError;
pub use token::{
    Ack as AckPlace, BundleSigner, KEYS_FILE, KeyRing, KeyRingError, Place as NodePlace, Rotated,
    TokenError,
};
pub use tools::{Switches, inspect::describe};
