//! Tests the core by breaking things: workflows that use their `Ctx` across restarts, crashes at every
//! fault point, concurrent callers and changed programs.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![expect(clippy::print_stderr, reason = "a random test says its seed, so that it can be run again")]

#[macro_use]
mod support;

mod appends;
mod cancels;
mod children;
mod deadlines;
mod faulty_store;
mod first_answers;
mod helpers;
mod hooks;
mod idempotency;
mod listings;
mod memory;
mod messages;
mod nodes;
mod parking;
mod questions;
mod random;
mod refusals;
mod replay;
mod resumes;
mod steps;
mod stores;
mod sweep;
mod time;
mod types;
mod versions;
mod watches;
mod workspaces;
mod yields;
