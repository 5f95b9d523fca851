//! The A2A door from outside: the real binary, real sockets, and `kill -9` in between.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "what a failed test tells beside its failure")]
#![expect(clippy::needless_pass_by_value, reason = "JSON is written where it is handed over")]

mod bad_requests;
mod cancels;
mod contexts;
mod crowds;
mod discovery;
mod families;
mod invocations;
mod kills;
mod patterns;
mod repeats;
mod scenarios;
mod sizes;
mod stalled;
mod streams;
mod subscribers;
pub(crate) mod support;
mod waiting;
