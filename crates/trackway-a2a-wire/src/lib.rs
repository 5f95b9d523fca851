//! The JSON of the A2A protocol: one model for the server and the client.
//!
//! A [`JsonDialect`] is a generation of the protocol on a binding. Types that are written borrow from the
//! domain types and know their dialect. One function writes everything that the dialects have in
//! common.

mod dialect;
mod message;
mod part;
mod push;
mod received_part;

pub use dialect::{JsonDialect, ProtocolVersion};
pub use message::{WireArtifact, WireMessage};
pub use part::{
    DATA_PART_COMPAT, metadata_with_references, name_and_media_type, take_references, unwrap_data,
};
pub use push::WirePushConfig;
pub use received_part::{PartContentError, ReceivedPartV1};
