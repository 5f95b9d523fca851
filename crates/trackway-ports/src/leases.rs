//! How several processes share the work on one store: one worker at a time drives a run, and one of them
//! handles each due item.
//!
//! Leases do not protect the log: the expected number and the epoch of an append do that. Leases and claims
//! prevent two workers from doing the same work.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use trackway_domain::{RunId, Timestamp};
use uuid::Uuid;

use crate::{DueHook, DueTimer, OutboxRow, ReadFuture, WriteFuture};

/// One lifetime of a process that drives runs. The next start is another worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerId(pub Uuid);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker_{}", self.0.simple())
    }
}

/// Counts how often a worker took over a run. Decisions of an earlier epoch are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct DriverEpoch(pub u64);

impl DriverEpoch {
    #[must_use]
    pub fn next_epoch(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The condition of an append on the driver of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AppendFence {
    /// A decision that does not need the driver, such as a cancel. Only `expected` counts.
    #[default]
    Unfenced,
    /// The driver made the decision. Refused with [`crate::AppendError::Fenced`] unless this is the run's
    /// epoch.
    AtEpoch(DriverEpoch),
    /// The append's worker becomes the driver with this epoch. Refused with [`crate::AppendError::Fenced`]
    /// unless the run has no driver and its epoch is one less.
    TakeOver(DriverEpoch),
}

/// How long a worker counts as alive. Another worker can claim whatever a dead worker drives or has claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerLease {
    /// Until it is released, and exclusive: the lease of every other worker ends now. For a process that knows
    /// from a lock on the folder that it is the only one.
    Exclusive,
    Until(Timestamp),
}

/// How a process leases the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseMode {
    /// The process is the only one that drives runs, because it has locked the folder. Nothing is renewed.
    Exclusive,
    /// The process is one of several nodes. Its lease lasts this long and is renewed three times in that
    /// period. If renewal fails, the node stops driving before others take over.
    Renewed(Duration),
}

/// Who drives a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunLease {
    pub epoch: DriverEpoch,
    /// A run has no driver while its row is neither `runnable` nor `parked`.
    pub driver: Option<WorkerId>,
}

/// A run that the worker drives from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedRun {
    pub run: RunId,
    pub epoch: DriverEpoch,
}

/// A worker's request for work. No work goes to two workers that are alive at `now`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkClaim {
    pub worker: WorkerId,
    pub now: Timestamp,
    pub limit: usize,
}

/// Leases of workers, and claims of work.
///
/// What a caller may assume after a crash: a claim whose result was returned is durable and lasts as long as
/// the lease of its worker.
pub trait Leases: Send + Sync + fmt::Debug {
    /// Starts the worker's lease, or extends it.
    fn acquire_or_renew_lease(&self, worker: WorkerId, lease: WorkerLease, now: Timestamp)
    -> WriteFuture<'_>;

    /// Ends the worker's lease.
    fn release_lease(&self, worker: WorkerId) -> WriteFuture<'_>;

    /// Who drives the run; `None` if the run has no row.
    fn find_run_lease(&self, run: RunId) -> ReadFuture<'_, Option<RunLease>>;

    /// Runs that need a driver and have none, or have a dead one: `runnable` runs, and parked runs to try
    /// again. Each gets the next epoch and this worker as its driver. In order of id.
    fn claim_abandoned_runs(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<ClaimedRun>>;

    /// Errands without a claim of a live worker. An append claims the errands that it adds for its worker. In
    /// order of id.
    fn claim_unclaimed_errands(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<OutboxRow>>;

    /// Timers due at or before `now` that no other worker has claimed, earliest first. Setting a timer again
    /// releases its claim.
    fn claim_due_timers(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<DueTimer>>;

    /// Hooks due at or before `now` that no other worker has claimed, earliest first, except those on runs of
    /// these tenants. A hook with nothing left to deliver has no claim.
    fn claim_due_hooks(&self, claim: WorkClaim, except: Vec<String>) -> ReadFuture<'_, Vec<DueHook>>;
}
