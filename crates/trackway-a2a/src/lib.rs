//! The A2A front door: every registered workflow as an agent of the A2A protocol.
//!
//! [`router`] serves `/a2a/agents`. A request is read by a binding, turned into the
//! domain's words by the wire types of its generation, carried out by operations that know neither,
//! and written back from the run's view. Protocol 0.3 over JSON-RPC with server-sent events is
//! served; other generations and bindings come beside these modules, not into them.

pub mod client;
mod discovery;
mod fault;
mod http;
mod identity;
mod jsonrpc;
mod ops;
mod options;
mod router;
mod sse;
mod wire;

pub use options::Options;
pub use router::router;
