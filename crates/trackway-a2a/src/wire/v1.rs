//! Protocol 1.0 (1.0.1): its JSON form, the same on JSON-RPC and on HTTP+JSON.
//!
//! The protocol is defined by its protobuf messages and their JSON form: fields with their default
//! value may be omitted, enums are written by name, and both spellings of a field name are accepted.

mod call;
mod card;
mod incoming;
mod int;
mod params;
mod push;

pub(crate) use call::{
    cancel, get, get_push, list, list_pushes, remove_push, send, set_push, stream, subscribe,
};
pub(crate) use card::card;
pub(crate) use int::Int;
pub(crate) use params::{
    GetParams, ListParams, ListPushesParams, PushIdParams, SendParams, TaskParams, TenantParams,
};
pub(crate) use push::PushConfig;
