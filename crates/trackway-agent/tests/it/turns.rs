//! Agents as programs: turns on a real runtime, with a scripted model behind a real socket and small
//! workflows beside it. The clock stands still unless a test moves it: what waits for time would hang.

mod bounds;
mod clock;
mod crash;
mod dispatch;
mod growth;
pub(crate) mod kit;
mod memory;
mod once;
mod real_model;
mod replies;
mod restart;
mod results;
mod speech;
mod tasks;
mod trust;
mod words;
