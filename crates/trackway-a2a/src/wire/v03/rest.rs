//! Protocol 0.3 on HTTP+JSON: the JSON form of its protobuf messages, which is not that of JSON-RPC.
//!
//! Clients of this binding read strictly: nothing may stand here that those messages do not have.

mod params;

pub(crate) use params::{PushParams, SendParams};

#[cfg(test)]
mod tests;
