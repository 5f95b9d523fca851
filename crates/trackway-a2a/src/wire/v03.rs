//! Protocol 0.3.0 (2025-07-30): its JSON form.
//!
//! Types for requests have the names of the specification and own their values, which move into the
//! domain.

mod card;
mod params;
mod parse_call;
mod parse_message;
pub(crate) mod protobuf_json;
mod push;

pub(crate) use card::render_card;
pub(crate) use params::{SendParams, TaskIdParams, TaskQueryParams};
pub(crate) use parse_call::{
    parse_cancel, parse_get, parse_get_push, parse_list_pushes, parse_remove_push, parse_send, parse_stream,
    parse_subscribe,
};
pub(crate) use push::{PushIdParams, SetPushParams};

/// The version in the card.
pub(crate) const PROTOCOL_VERSION: &str = "0.3.0";
