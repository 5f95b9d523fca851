//! Protocol 0.3.0 (2025-07-30): its JSON form.
//!
//! Types for requests have the names of the specification and own their values, which move into the
//! domain.

mod agent_call_parsing;
mod card_json;
mod message_parsing;
pub(crate) mod protobuf_json;
mod push_params;
mod request_params;

pub(crate) use agent_call_parsing::{
    parse_cancel_task, parse_get_push, parse_get_task, parse_list_pushes, parse_remove_push,
    parse_send_message, parse_stream_message, parse_subscribe_to_task,
};
pub(crate) use card_json::render_card_json;
pub(crate) use push_params::{PushIdParams, SetPushParams};
pub(crate) use request_params::{SendParams, TaskIdParams, TaskQueryParams};

/// The version in the card.
pub(crate) const PROTOCOL_VERSION: &str = "0.3.0";
