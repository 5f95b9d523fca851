//! Who does what, where several processes work on one store: a run is driven by one worker at a time, and
//! what is due is done by one of them.
//!
//! Nothing here keeps a log right: that is what the expected number and the epoch of an append do. Leases
//! and claims keep two workers from doing the same work.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use trackway_domain::{RunId, Timestamp};
use uuid::Uuid;

use crate::{DueHook, DueTimer, OutboxRow, ReadFuture, WriteFuture};

/// One life of a process that drives runs. The next start is another worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerId(pub Uuid);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker_{}", self.0.simple())
    }
}

/// Counts how often a run was taken by a worker. What was decided under an earlier epoch is refused.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Epoch(pub u64);

impl Epoch {
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// What an append says about the driver of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fence {
    /// It can be decided beside the driver, as a cancel can. Only `expected` counts.
    #[default]
    Open,
    /// The driver decided it. Refused with [`crate::AppendError::Fenced`] unless this is the run's epoch.
    Held(Epoch),
    /// The append's worker becomes the driver under this epoch. Refused with [`crate::AppendError::Fenced`] unless
    /// the run has no driver and its epoch is one less.
    Take(Epoch),
}

/// For how long a worker is alive. Whatever a worker that is not alive drives, or has claimed, can be
/// claimed by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lease {
    /// Until it is released, and alone: the lease of every other worker ends now. For a process that knows
    /// by other means, a locked folder, that it is the only one.
    Sole,
    Until(Timestamp),
}

/// How a process holds the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseTerm {
    /// It is the only one that drives runs, by a lock on the folder: nothing is renewed.
    Sole,
    /// It is one of several nodes: its lease lasts this long and is renewed three times in that. When it
    /// cannot be renewed, the node stops driving before others take over.
    Renewed(Duration),
}

/// Who drives a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunLease {
    pub epoch: Epoch,
    /// A run has no driver while its row is neither `runnable` nor `parked`.
    pub driver: Option<WorkerId>,
}

/// A run that a worker drives from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedRun {
    pub run: RunId,
    pub epoch: Epoch,
}

/// A worker asks for work. Nothing is given to two workers that are alive at `now`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkClaim {
    pub worker: WorkerId,
    pub now: Timestamp,
    pub limit: usize,
}

/// Leases of workers, and claims of work.
///
/// What a caller may assume after a crash: a claim that was answered is durable and lasts as long as the
/// lease of its worker.
pub trait Leases: Send + Sync + fmt::Debug {
    /// Begins the worker's lease, or extends it.
    fn hold(&self, worker: WorkerId, lease: Lease, now: Timestamp) -> WriteFuture<'_>;

    /// Ends the worker's lease.
    fn release(&self, worker: WorkerId) -> WriteFuture<'_>;

    /// Who drives the run; none where it has no row.
    fn run_lease(&self, run: RunId) -> ReadFuture<'_, Option<RunLease>>;

    /// Runs to be driven that have no driver, or one that is not alive: `runnable` ones, and parked ones to
    /// be tried again. Each gets the next epoch and this worker as its driver. In order of id.
    fn claim_runs(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<ClaimedRun>>;

    /// Errands that nobody alive has claimed; an append claims those it adds for its worker. In order of id.
    fn claim_errands(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<OutboxRow>>;

    /// Timers due at or before `now` that no other worker has claimed, earliest first. One that is set again
    /// is free again.
    fn claim_timers(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<DueTimer>>;

    /// Hooks due at or before `now` that no other worker has claimed, earliest first, without those on runs
    /// of these tenants. One that has nothing more to deliver is free again.
    fn claim_hooks(&self, claim: WorkClaim, except: Vec<String>) -> ReadFuture<'_, Vec<DueHook>>;
}
