//! The crate from outside: tools that call a scripted peer on a real socket.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod fake_peer;
mod peer_calls;
