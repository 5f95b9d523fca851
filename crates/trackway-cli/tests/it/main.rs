//! Black-box tests of the `trackway` binary: real processes, real folders, real sockets.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod a2a;
mod agents;
mod artifacts;
mod auth;
mod chat;
mod cli;
mod definitions;
mod frameworks;
mod mcp;
mod mesh;
mod nats;
mod rest;
mod sdk;
mod support;
mod sweep;
