//! The parts of a runtime, and its limits.

use std::sync::Arc;

use trackway_ports::{Clock, FaultInjector, IdSource, Journal, NoFaultInjection, StepNoteHandler, Wakeups};

use crate::{
    ChildLimits, CommitObserver, HookMessenger, LeaseMode, ProgramRegistry, SystemClock, SystemIds, Tools,
};

/// Everything a [`crate::Runtime`] needs. The limits have defaults that suit one machine.
#[derive(Debug, Clone)]
pub struct Options {
    pub journal: Arc<dyn Journal>,
    pub registry: Arc<ProgramRegistry>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub faults: Arc<dyn FaultInjector>,
    /// Whether runs that an earlier process left unfinished continue. A tool that only reads or cancels
    /// leaves them alone.
    pub resume_unfinished: bool,
    /// How it holds the store.
    pub lease: LeaseMode,
    /// How the nodes that share a store notify each other of appends.
    pub wakeups: Option<Arc<dyn Wakeups>>,
    /// Whether a message that repeats an earlier one's id is recognised. Conformance suites use the same ids
    /// again and again, so they need every message to be new.
    pub deduplicate_messages: bool,
    /// The tools of workflows that are defined in files.
    pub tools: Arc<Tools>,
    /// How far runs may grow below a root.
    pub child_limits: ChildLimits,
    /// Delivers updates to hooks; without one, no hook can be set.
    pub messenger: Option<Arc<dyn HookMessenger>>,
    /// Releases what steps began elsewhere when their run ends. Without one, nothing is released.
    pub step_notes: Option<Arc<dyn StepNoteHandler>>,
    /// Receives everything that is committed.
    pub observer: Option<Arc<dyn CommitObserver>>,
    /// Appends in flight at once. Enough to fill a group commit several times; beyond it, callers wait for
    /// their turn instead of growing a queue.
    pub appends_max: usize,
    /// Programs that are active at once. Waiting programs do not count: they are not in memory, except those
    /// in which a tool has asked a person.
    pub programs_max: usize,
}

impl Options {
    pub fn new(journal: Arc<dyn Journal>, registry: Arc<ProgramRegistry>) -> Self {
        Self {
            journal,
            registry,
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            faults: Arc::new(NoFaultInjection),
            resume_unfinished: true,
            lease: LeaseMode::Exclusive,
            wakeups: None,
            deduplicate_messages: true,
            tools: Arc::default(),
            child_limits: ChildLimits::default(),
            messenger: None,
            step_notes: None,
            observer: None,
            appends_max: 4_096,
            programs_max: 4_096,
        }
    }
}
