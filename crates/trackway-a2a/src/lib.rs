//! The A2A front door: every registered workflow as an agent of the A2A protocol.
//!
//! [`a2a_router`] serves `/a2a` and `/a2a/agents` over HTTP, [`grpc_server`] the same agents over gRPC. A
//! binding parses a request, the wire types of its generation convert it to domain types, operations
//! that know neither execute it, and the answer is rendered from the run's view. Protocols 1.0 and 0.3
//! are served at the same time.

mod agent_card;
mod authentication;
mod card_discovery;
mod card_signature;
mod error;
mod extensions;
mod file_fetcher;
mod grpc;
mod http;
mod http_json;
mod jsonrpc;
mod media_type;
mod multi_version_card;
mod operations;
mod options;
mod protocol_version;
mod push_delivery;
mod push_notifier;
mod request_options;
mod router;
mod server;
mod task_event_feed;
mod wire;

pub use card_signature::{CardSigner, SigningKeyError};
pub use file_fetcher::FileFetcher;
pub use grpc::{GrpcServer, grpc_server};
pub use options::{BLOCKING_TIMEOUT_DEFAULT, CALL_DEPTH_MAX_DEFAULT, Options};
pub use push_delivery::{AddressPolicy, PushSender, PushSenderOptions};
pub use push_notifier::PushNotifier;
pub use router::a2a_router;
