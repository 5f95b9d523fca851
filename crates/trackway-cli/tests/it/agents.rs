//! Agents from outside: the real binary, a model server on a real socket, and A2A in between.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod addresses;
mod agent_workspace;
mod bounds;
mod clients;
mod crashes;
mod edges;
mod models;
mod official_client;
mod prompts;
mod reload;
mod replies;
mod servers;
mod streams;
mod sweep;
mod tenants;
