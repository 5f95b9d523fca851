//! The front door from the view of its clients, with a real engine and store and without a socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod discovery;
mod errors;
mod grpc;
mod invocations;
mod send;
mod stream;
mod test_server;
mod v03_http_json;
mod v1;
