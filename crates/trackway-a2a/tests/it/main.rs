//! The door as its clients see it, with a real engine and store behind it and no socket between.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod discovery;
mod errors;
mod grpc;
mod send;
mod site;
mod stream;
mod v03_rest;
mod v1;
