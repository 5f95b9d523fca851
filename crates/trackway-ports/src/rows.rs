//! What a store keeps beside the log: rows for finding things. All of it follows from the events.

use trackway_domain::{
    Caller, Errand, Event, Pos, RunId, Seq, SessionId, StateName, Timer, Timestamp, WorkflowRef,
};

/// An event as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub pos: Pos,
    pub seq: Seq,
    pub at: Timestamp,
    pub event: Event,
}

/// One run in the index of runs. What it is called and whom it belongs to is fixed by the first append
/// that brings it; later ones change only `state`, `runnable`, `parked` and `updated_at`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    pub id: RunId,
    pub session: SessionId,
    pub caller: Caller,
    pub workflow: WorkflowRef,
    pub parent: Option<RunId>,
    pub state: StateName,
    /// The program must be driven after a restart. False while the run waits or has ended.
    pub runnable: bool,
    /// The program did not fit the log; it is tried again at each start.
    pub parked: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Which runs a listing shows. `None` means any.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFilter {
    pub tenant: Option<String>,
    pub session: Option<SessionId>,
    pub workflow: Option<String>,
    pub states: Vec<StateName>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DueTimer {
    pub run: RunId,
    pub timer: Timer,
    pub due: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OutboxRow {
    pub id: crate::OutboxId,
    pub item: Errand,
}
