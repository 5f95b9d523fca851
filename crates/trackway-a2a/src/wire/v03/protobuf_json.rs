//! Protocol 0.3 on HTTP+JSON: the JSON form of its protobuf messages, which differs from JSON-RPC.
//!
//! Clients of this binding are strict: only fields of those messages are allowed.

mod rest_request_params;

pub(crate) use rest_request_params::{RestPushParams, RestSendParams};

#[cfg(test)]
mod tests;
