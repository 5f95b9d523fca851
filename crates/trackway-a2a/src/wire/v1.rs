//! Protocol 1.0 (1.0.1): what its JSON looks like, on JSON-RPC and on HTTP+JSON alike.
//!
//! The protocol is defined by its protobuf messages and their JSON form: fields that hold their
//! default may be left out, enums are written by name, either spelling of a field name is read.

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
