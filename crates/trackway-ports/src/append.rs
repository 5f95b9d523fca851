//! One append: everything that a decision writes, in one transaction.

use serde::{Deserialize, Serialize};
use trackway_domain::{Caller, Event, MessageId, Pos, RunId, Seq, Timer, Timestamp};
use uuid::Uuid;

use crate::{AppendError, HookChange, OutboxItem, Pinned, RunRow};

/// What one decision writes. The store commits all of it or none of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    pub run: RunId,
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
    /// The first appends of runs that begin with this one, one event each. Their events follow those of
    /// this append without a gap.
    pub starts: Vec<Append>,
}

impl Append {
    pub fn new(run: RunId, expected: Seq, at: Timestamp) -> Self {
        Self {
            run,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// Position of the append's first event; the others follow without a gap. For an append without
    /// events, the position of the newest event in the store.
    pub first: Pos,
    /// This append made a hook of the run due, or left it so though it was told.
    pub hooks: bool,
}

/// Called exactly once with the result of an append, in the order of commits, on the store's own
/// thread. It must be short and must not block.
pub type Done = Box<dyn FnOnce(Result<Receipt, AppendError>) + Send>;
