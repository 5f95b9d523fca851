//! Index rows that a store keeps next to the log. All of them are derived from the events.

use trackway_domain::{
    Access, Caller, CrossRunErrand, Event, Position, RunId, Seq, SessionId, StateName, TimerKey, Timestamp,
    WorkflowRef,
};

use crate::{ReadError, RunLease};

/// An event as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    pub pos: Position,
    pub seq: Seq,
    pub at: Timestamp,
    pub event: Event,
}

/// One run in the index of runs. The first append fixes its names and its owner; later ones change only
/// `state`, `runnable`, `parked` and `status_at`.
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
    /// The program did not fit the log; each start tries it again.
    pub parked: bool,
    pub created_at: Timestamp,
    /// When the current status was published.
    pub status_at: Timestamp,
}

/// What a run is loaded from.
#[derive(Debug)]
pub struct StoredRun {
    /// Its first events, oldest first: as many as a call of
    /// [`Journal::list_events`](crate::Journal::list_events) returns.
    pub events: Vec<StoredEvent>,
    /// These are all of them. If false, the rest has to be read, although there may be none.
    pub is_whole: bool,
    /// Its row. Damage in it matters only to callers that need the row.
    pub row: Result<Option<RunRow>, ReadError>,
    /// Who drives it; none if it has no row.
    pub lease: Result<Option<RunLease>, ReadError>,
}

/// Which runs a listing shows. `None` means any.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFilter {
    /// Only runs that are covered.
    pub access: Option<Access>,
    pub session: Option<SessionId>,
    pub workflow: Option<String>,
    pub states: Vec<StateName>,
}

/// A listing of the runs that a caller may see by the time of their status, newest first. `None` means any.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusTimeQuery {
    pub access: Access,
    pub session: Option<SessionId>,
    pub workflow: Option<String>,
    pub state: Option<StateName>,
    /// Only runs whose status was published at this time or later.
    pub since: Option<Timestamp>,
    /// The page starts after this cursor.
    pub after: Option<StatusTimeCursor>,
    pub limit: usize,
}

impl StatusTimeQuery {
    /// The first page of everything that is covered.
    pub fn new(access: Access, limit: usize) -> Self {
        Self { access, session: None, workflow: None, state: None, since: None, after: None, limit }
    }
}

/// A run's position in a listing by status time: later ones first; at the same time, the greater id first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatusTimeCursor {
    pub status_at: Timestamp,
    pub id: RunId,
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunPage {
    pub rows: Vec<RunRow>,
    /// How many runs match, on all pages.
    pub total: u64,
}

impl RunRow {
    /// Its position in a listing by status time.
    pub fn status_time_cursor(&self) -> StatusTimeCursor {
        StatusTimeCursor { status_at: self.status_at, id: self.id }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct DueTimer {
    pub run: RunId,
    pub timer: TimerKey,
    pub due: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OutboxRow {
    pub id: crate::OutboxId,
    pub item: CrossRunErrand,
}
