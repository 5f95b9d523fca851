//! The building blocks of Trackway's tests.
//!
//! No released program links this crate. [`MemoryJournal`] is a journal that can die and be reopened;
//! [`journal_suite!`] expands into the tests that every journal must pass. In a [`World`] runtimes
//! start and die at fault points ([`CrashAt`]) while store, clock and ids continue; [`Guest`] is a
//! client that can be repeated after each crash. [`ModelServer`] is a scripted model on a real socket.

mod clock;
mod faults;
mod gate;
mod guest;
mod ids;
pub mod journal_suite;
mod memory;
mod model_server;
mod postbox;
mod story;
mod sweep;
mod tap;
mod taps;
mod trail;
mod whole;
mod world;

pub use clock::ManualClock;
pub use faults::{CrashAt, Life};
pub use gate::Gate;
pub use guest::{Guest, Visit, answer_to, at, hook, message};
pub use ids::{CountingIds, scatter};
pub use memory::{MemoryBlobs, MemoryJournal};
pub use model_server::{Asked, ChatReply, Latch, ModelServer, Reply};
pub use postbox::{Letter, Postbox};
pub use story::{Names, seen, story, updates};
pub use sweep::{Store, Subject, one_life, sweep, sweep_again};
pub use tap::{Tap, Tapped};
pub use taps::{Breaks, Mortal, Outage, OwnThread};
pub use trail::{Trail, document, noted};
pub use whole::{runs_to_drive, whole_log};
pub use world::{Process, Setup, World};
