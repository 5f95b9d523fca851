//! Agents from outside: the real binary, a model server on a real socket, and A2A in between.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod addresses;
mod bounds;
mod clients;
mod crashes;
mod desk;
mod edges;
mod models;
mod official;
mod prompts;
mod reload;
mod replies;
mod servers;
mod streams;
mod sweep;
mod tenants;
