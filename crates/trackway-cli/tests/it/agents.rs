//! Agents from outside: the real binary, a model server on a real socket, and A2A in between.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod addresses;
mod bounds;
mod crashes;
mod desk;
mod faults;
mod memory;
mod models;
mod outcomes;
mod prompts;
mod reload;
mod replies;
mod servers;
mod streams;
mod sweep;
