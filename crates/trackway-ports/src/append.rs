//! One append: everything that a decision writes, in one transaction.

use serde::{Deserialize, Serialize};
use trackway_domain::{
    ArtifactIndexEntry, Caller, Event, MessageId, Position, RunId, Seq, TimerKey, Timestamp,
};
use uuid::Uuid;

use crate::{AppendError, AppendFence, HookChange, OutboxItem, PinnedDefinition, RunRow, WorkerId};

/// What one decision writes. The store commits all of it or none of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    /// Id for finding the append if the answer to its commit was lost. Without it, the append cannot be
    /// found.
    pub id: Option<AppendId>,
    pub run: RunId,
    /// The worker that decided it. This worker runs the errands that the append adds.
    pub worker: Option<WorkerId>,
    /// The condition on the driver of the run.
    pub fence: AppendFence,
    /// Number of the last event that the decision used; 0 for a new run. The append is refused with
    /// [`AppendError::Conflict`] if the log has newer events.
    pub expected: Seq,
    /// When it was decided; stored with every event of this append.
    pub at: Timestamp,
    /// Events `expected + 1`, `expected + 2`, … May be empty: an append can change only rows.
    pub events: Vec<Event>,
    /// The run's row after this append, if it changed. A new run always has one.
    pub row: Option<RunRow>,
    pub timer_changes: Vec<TimerChange>,
    pub outbox_changes: Vec<OutboxChange>,
    /// Applied in order, after the events were added.
    pub hook_changes: Vec<HookChange>,
    /// Whether one of the events is delivered to the run's hooks. Idle hooks become due with this append.
    pub notifies_hooks: bool,
    /// Definitions that this append pins. A definition that is already pinned stays unchanged.
    pub pins: Vec<PinnedDefinition>,
    /// What its events add to the index of artifacts, in the order of the events. The same transaction writes
    /// the versions.
    pub artifacts: Vec<ArtifactIndexEntry>,
    /// The times of the events, one each, if they were recorded in another store before. If empty, `at` is
    /// used.
    pub event_times: Vec<Timestamp>,
    /// The caller's message behind this append, which identifies a repeated request.
    pub message_claim: Option<MessageClaim>,
    /// The first appends of runs that start with this one.
    pub started_runs: Vec<Append>,
}

impl Append {
    pub fn new(run: RunId, expected: Seq, at: Timestamp) -> Self {
        Self {
            id: None,
            run,
            worker: None,
            fence: AppendFence::Unfenced,
            expected,
            at,
            events: Vec::new(),
            row: None,
            timer_changes: Vec::new(),
            outbox_changes: Vec::new(),
            hook_changes: Vec::new(),
            notifies_hooks: true,
            pins: Vec::new(),
            artifacts: Vec::new(),
            event_times: Vec::new(),
            message_claim: None,
            started_runs: Vec::new(),
        }
    }

    /// When the event of that number was recorded, if it is one of this append.
    pub fn event_time(&self, seq: Seq) -> Timestamp {
        let index = seq.checked_sub(self.expected + 1).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.event_times.get(index)).copied().unwrap_or(self.at)
    }
}

/// Chosen at random by the caller that makes the append.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AppendId(pub u64);

#[derive(Debug, Clone, PartialEq)]
pub enum TimerChange {
    /// Sets the run's timer of that name, replacing an earlier one.
    Set(TimerKey, Timestamp),
    Clear(TimerKey),
    /// Clears every timer of the run: it has ended.
    ClearAll,
}

/// Name of an outbox row, chosen by the decision that adds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OutboxId(pub Uuid);

/// Work that one run owes to another. The append that decides it adds the row, and the append that completes
/// it removes the row, so a crash between the two only repeats the attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum OutboxChange {
    Add(OutboxId, OutboxItem),
    /// Removing a row that is gone already is no error.
    Remove(OutboxId),
}

/// A caller's message id, which identifies a repeated request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MessageClaimKey {
    pub caller: Caller,
    pub message: MessageId,
}

/// A message that was processed. The first append to claim a key wins; a later one is refused with
/// [`AppendError::Claimed`] and writes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageClaim {
    pub key: MessageClaimKey,
    pub run: RunId,
    /// Digest of the request, so that another message with the same id is not ignored.
    pub digest: String,
    /// The reply to its sender, in addition to the run itself.
    pub reply: serde_json::Value,
}

/// Proof that an append is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendReceipt {
    /// Position of the append's first event; the others follow without a gap. Positions grow within the log
    /// of a run; the positions of different runs do not tell which was first. Zero for an append without
    /// events.
    pub first_position: Position,
    /// The same for each run that started with it.
    pub start_positions: Vec<Position>,
    /// This append made a hook of the run due, or left it due after a delivery.
    pub has_due_hook: bool,
}

/// Called exactly once with the result of an append, on a thread of the store. It must be short and must not
/// block. The appends of one run are answered in order.
pub type AppendCallback = Box<dyn FnOnce(Result<AppendReceipt, AppendError>) + Send>;
