//! Protocol 1.0 (1.0.1): its JSON form, the same on JSON-RPC and on HTTP+JSON.
//!
//! The protocol is defined by its protobuf messages and their JSON form: fields with their default
//! value may be omitted, enums are written by name, and both spellings of a field name are accepted.

mod card;
mod json_integer;
mod params;
mod parse_call;
mod parse_message;
mod push;

pub(crate) use card::render_card;
pub(crate) use json_integer::JsonInteger;
pub(crate) use params::{
    GetTaskParams, ListPushesParams, ListTasksParams, PushIdParams, SendParams, TaskIdParams, TenantParams,
};
pub(crate) use parse_call::{
    parse_cancel, parse_get, parse_get_push, parse_list, parse_list_pushes, parse_remove_push, parse_send,
    parse_set_push, parse_stream, parse_subscribe,
};
pub(crate) use push::PushConfigParams;
