//! The building blocks of Trackway's tests.
//!
//! No released program links this crate. [`MemoryJournal`] is a journal that can die and be reopened;
//! [`journal_suite!`] expands into the tests that every journal must pass. In a [`TestWorld`] runtimes
//! start and die at fault points ([`CrashAt`]) while store, clock and ids continue; [`ScriptedClient`] is a
//! client that can be repeated after each crash. [`ScriptedModelServer`] is a model on a real socket.

mod clock;
mod faults;
mod guided_run_builder;
mod ids;
mod interceptor;
mod interceptors;
pub mod journal_suite;
mod memory;
mod pausing_interceptor;
mod recording_messenger;
mod run_summary;
mod scripted_client;
mod scripted_model_server;
mod store_queries;
mod sweep;
mod test_world;

pub use clock::ManualClock;
pub use faults::{CrashAt, ProcessLife};
pub use guided_run_builder::{GuidedRunBuilder, document_change, inputs_with_notes};
pub use ids::{CountingIds, mix_bits};
pub use interceptor::{InterceptedJournal, JournalInterceptor};
pub use interceptors::{BrokenAfterAppends, OutageInterceptor, OwnThreadInterceptor, ProcessLifeInterceptor};
pub use memory::{MemoryAuditLog, MemoryBlobs, MemoryJournal, MemoryKeys};
pub use pausing_interceptor::PausingInterceptor;
pub use recording_messenger::{RecordedDelivery, RecordingMessenger};
pub use run_summary::{IdNormalizer, comparable_view, summarize_updates, visible_events};
pub use scripted_client::{
    ClientHistory, ScriptedClient, answer_delivery, local_run_address, new_test_hook, user_message,
};
pub use scripted_model_server::{
    ModelRequest, ScriptLatch, ScriptedChatReply, ScriptedModelServer, ScriptedReply,
};
pub use store_queries::{list_runs_to_drive, load_full_log};
pub use sweep::{StoreKind, SweepSubject, assert_one_lifecycle, crash_sweep, seeded_crash_sweep};
pub use test_world::{ProcessSetup, TestProcess, TestWorld};
