//! Protocol 1.0 over both bindings without a socket: everything that the conformance suite checks, and
//! more.

mod auth;
pub(crate) mod bindings;
mod cards;
mod errors;
mod list;
mod push;
mod send;
mod stream;
mod strict;
mod tenants;
mod versions;
