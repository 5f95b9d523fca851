//! What a runtime is made of, and its bounds.

use std::sync::Arc;

use trackway_ports::{Clock, FaultInjector, IdSource, Journal, NoFaultInjection, Wakeups};

use crate::{
    ChildLimits, CommitObserver, HookMessenger, LeaseMode, ProgramRegistry, SystemClock, SystemIds, Tools,
};

/// Everything a [`crate::Runtime`] needs. The bounds have defaults that suit one machine.
#[derive(Debug, Clone)]
pub struct Options {
    pub journal: Arc<dyn Journal>,
    pub registry: Arc<ProgramRegistry>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub faults: Arc<dyn FaultInjector>,
    /// Whether runs that an earlier process left unfinished go on. A tool that only reads or cancels
    /// leaves them be.
    pub resume_unfinished: bool,
    /// How it holds the store.
    pub lease: LeaseMode,
    /// How the nodes that share a store tell each other that a log has gone on.
    pub wakeups: Option<Arc<dyn Wakeups>>,
    /// Whether a message that repeats an earlier one's id is told from a new one. Conformance suites,
    /// which use the same ids again and again, need every message to be new.
    pub deduplicate_messages: bool,
    /// What written workflows can have done.
    pub tools: Arc<Tools>,
    /// How far runs may grow below a root.
    pub child_limits: ChildLimits,
    /// Tells others of updates; without one, no hook can be set.
    pub messenger: Option<Arc<dyn HookMessenger>>,
    /// Hears of everything that is committed.
    pub observer: Option<Arc<dyn CommitObserver>>,
    /// Appends under way at once. Enough to fill a group commit several times over; beyond it,
    /// callers wait for their turn instead of growing a queue.
    pub appends_max: usize,
    /// Programs that are doing something at once. Those that wait are not counted: they are not in memory,
    /// but for the ones in which a tool has asked a person.
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
            observer: None,
            appends_max: 4_096,
            programs_max: 4_096,
        }
    }
}
