//! Protocol 0.3.0 (2025-07-30): its JSON form.
//!
//! Types for requests have the names of the specification and own their values, which move into the
//! domain.

mod call;
mod card;
mod incoming;
mod params;
mod push;
pub(crate) mod rest;

pub(crate) use call::{cancel, get, get_push, list_pushes, remove_push, send, stream, subscribe};
pub(crate) use card::card;
pub(crate) use params::{SendParams, TaskIdParams, TaskQueryParams};
pub(crate) use push::{PushIdParams, SetPushParams};

/// The version in the card.
pub(crate) const PROTOCOL_VERSION: &str = "0.3.0";
