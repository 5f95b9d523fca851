//! Protocol 0.3.0 (2025-07-30): what its JSON looks like.
//!
//! Types that are read are named after what the specification calls them and own their values, which
//! move on into the domain. Types that are written borrow from a run's view and are written once,
//! straight into the response.

mod answer;
mod call;
mod card;
mod incoming;
mod message;
mod params;
mod push;
mod references;
pub(crate) mod rest;
mod task;
mod update;

pub(crate) use answer::Answer;
pub(crate) use call::{cancel, get, get_push, list_pushes, remove_push, send, stream, subscribe};
pub(crate) use card::card;
pub(crate) use incoming::unwrapped;
pub(crate) use message::DATA_PART_COMPAT;
pub(crate) use params::{SendParams, TaskIdParams, TaskQueryParams};
pub(crate) use push::{PushIdParams, SetPushParams};
pub(crate) use references::{take_references, with_references};
pub(crate) use task::Task;
pub(crate) use update::StreamItem;

/// The version in the card.
pub(crate) const PROTOCOL_VERSION: &str = "0.3.0";
