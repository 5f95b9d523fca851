//! Agents as programs: turns on a real runtime, with a scripted model behind a real socket and small
//! workflows. The clock does not move unless a test moves it, so anything that waits for time would
//! hang.

mod bounds;
mod clock;
mod crash;
mod dispatch;
mod growth;
pub(crate) mod harness;
mod memory;
mod once;
mod peers;
mod real_model;
mod replies;
mod restart;
mod results;
mod speech;
mod tasks;
mod trust;
mod words;
