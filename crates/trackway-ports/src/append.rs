//! One append: everything that a decision writes, in one transaction.

use serde::{Deserialize, Serialize};
use trackway_domain::{Caller, Event, MessageId, Pos, RunId, Seq, Timer, Timestamp};
use uuid::Uuid;

use crate::{AppendError, Fence, HookChange, OutboxItem, Pinned, RunRow, WorkerId};

/// What one decision writes. The store commits all of it or none of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    /// What it is looked up by when the answer to its commit was lost. Without one, it cannot be.
    pub id: Option<AppendId>,
    pub run: RunId,
    /// Who decided it. This worker does the errands that the append adds.
    pub worker: Option<WorkerId>,
    /// What it says about the driver of the run.
    pub fence: Fence,
    /// Number of the last event that the decision saw; 0 for a new run. The append is refused with
    /// [`AppendError::Conflict`] when the log has gone on since.
    pub expected: Seq,
    /// When it was decided; stored with every event of this append.
    pub at: Timestamp,
    /// Events `expected + 1`, `expected + 2`, … May be empty: an append can change rows alone.
    pub events: Vec<Event>,
    /// The run's row after this append, where it changed. A new run always brings one.
    pub row: Option<RunRow>,
    pub timers: Vec<TimerChange>,
    pub outbox: Vec<OutboxChange>,
    /// Made in their order, after the events were added.
    pub hooks: Vec<HookChange>,
    /// Whether the run's hooks are told of one of the events. Idle ones become due with this append.
    pub tells: bool,
    /// Definitions that this append pins. One that is pinned already stays as it is.
    pub pins: Vec<Pinned>,
    /// The events' own times, one each, where they were recorded elsewhere before; empty for `at`.
    pub stamps: Vec<Timestamp>,
    /// The caller's message behind this append, so that a repetition is recognised.
    pub claim: Option<Claim>,
    /// The first appends of runs that begin with this one.
    pub starts: Vec<Append>,
}

impl Append {
    pub fn new(run: RunId, expected: Seq, at: Timestamp) -> Self {
        Self {
            id: None,
            run,
            worker: None,
            fence: Fence::Open,
            expected,
            at,
            events: Vec::new(),
            row: None,
            timers: Vec::new(),
            outbox: Vec::new(),
            hooks: Vec::new(),
            tells: true,
            pins: Vec::new(),
            stamps: Vec::new(),
            claim: None,
            starts: Vec::new(),
        }
    }
}

/// Chosen at random by who makes the append.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AppendId(pub u64);

#[derive(Debug, Clone, PartialEq)]
pub enum TimerChange {
    /// Sets the run's timer of that name, replacing an earlier one.
    Set(Timer, Timestamp),
    Clear(Timer),
    /// Every timer of the run: it has ended.
    ClearAll,
}

/// Name of an outbox row, chosen by the decision that adds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OutboxId(pub Uuid);

/// Work that one run owes to another. A row is added by the append that decides it and removed by
/// the append that did it, so a crash between the two only repeats the attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum OutboxChange {
    Add(OutboxId, OutboxItem),
    /// Removing a row that is gone already is no error.
    Remove(OutboxId),
}

/// A caller's message id: what makes a repeated request recognisable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClaimKey {
    pub caller: Caller,
    pub message: MessageId,
}

/// A message that was acted on. The first append to claim a key wins; a later one is refused with
/// [`AppendError::Claimed`] and writes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub key: ClaimKey,
    pub run: RunId,
    /// Digest of what was sent, so that another message under the same id is not swallowed.
    pub digest: String,
    /// What its sender was answered, beside the run itself.
    pub reply: serde_json::Value,
}

/// Proof that an append is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Position of the append's first event; the others follow without a gap. Positions grow with the log of
    /// a run; those of different runs say nothing about which was first. Zero for an append without events.
    pub first: Pos,
    /// The same for each run that began with it.
    pub starts: Vec<Pos>,
    /// This append made a hook of the run due, or left it so though something was delivered.
    pub hooks: bool,
}

/// Called exactly once with the result of an append, on a thread of the store. It must be short and must
/// not block. The appends of one run are answered in their order.
pub type Done = Box<dyn FnOnce(Result<Receipt, AppendError>) + Send>;
