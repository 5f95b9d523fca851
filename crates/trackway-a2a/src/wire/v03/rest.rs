//! Protocol 0.3 on HTTP+JSON: the JSON form of its protobuf messages, which is not that of JSON-RPC.
//!
//! Clients of this binding read strictly: nothing may stand here that those messages do not have.

mod answer;
mod message;
mod params;
mod task;

pub(crate) use answer::{Answer, StreamItem};
pub(crate) use params::{PushParams, SendParams};

#[cfg(test)]
mod tests;
