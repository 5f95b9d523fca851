//! Protocol 0.3.0 (2025-07-30): what its JSON looks like.
//!
//! Types that are read are named after what the specification calls them and own their values, which
//! move on into the domain. Types that are written borrow from a run's view and are written once,
//! straight into the response.

mod card;
mod incoming;
mod message;
mod params;
mod task;
mod update;

pub(crate) use card::Card;
pub(crate) use incoming::incoming;
pub(crate) use params::{Configuration, SendParams, TaskIdParams, TaskQueryParams};
pub(crate) use task::{HISTORY_MESSAGES_MAX, Task};
pub(crate) use update::StreamItem;

/// The version in the card.
pub(crate) const PROTOCOL_VERSION: &str = "0.3.0";
