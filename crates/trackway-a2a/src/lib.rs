//! The A2A front door: every registered workflow as an agent of the A2A protocol.
//!
//! [`router`] serves `/a2a` and `/a2a/agents` over HTTP, [`grpc()`] the same agents over gRPC. A
//! binding parses a request, the wire types of its generation convert it to domain types, operations
//! that know neither execute it, and the answer is rendered from the run's view. Protocols 1.0 and 0.3
//! are served at the same time.

mod asked;
mod card;
mod discovery;
mod door;
mod extensions;
mod fault;
mod feed;
mod grpc;
mod http;
mod identity;
mod jsonrpc;
mod media;
mod notify;
mod ops;
mod options;
mod push;
mod rest;
mod router;
mod sign;
mod union;
mod version;
mod wire;

pub use grpc::{Grpc, grpc};
pub use notify::Notifier;
pub use options::{BLOCKING_TIMEOUT_DEFAULT, Options};
pub use push::{AddressPolicy, Outgoing, OutgoingOptions};
pub use router::router;
pub use sign::{BadSigningKey, Signer};
