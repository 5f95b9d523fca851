//! The JSON of the A2A protocol: one model for the server and the client.
//!
//! A [`JsonDialect`] is a generation of the protocol on a binding. Types that are written borrow from the
//! domain types and know their dialect. One function writes everything that the dialects have in
//! common.

mod json_dialect;
mod received_part;
mod wire_message;
mod wire_part;
mod wire_push_config;

pub use json_dialect::{JsonDialect, ProtocolVersion};
pub use received_part::{PartContentError, ReceivedPartV1};
pub use wire_message::{WireArtifact, WireMessage};
pub use wire_part::{
    DATA_PART_COMPAT, metadata_with_referenced_tasks, part_name_and_media_type, take_referenced_task_ids,
    unwrap_data_value,
};
pub use wire_push_config::WirePushConfig;

/// The extension of a card whose agent recognises repeated messages: a message with an id that was accepted
/// before is answered with the task of the first, and has no other effect. The A2A protocol leaves this to the
/// agent, so a client cannot know it otherwise.
pub const IDEMPOTENT_MESSAGES_EXTENSION: &str = "urn:trackway:a2a:idempotent-messages";
