//! Leases and claims in memory.

use std::collections::BTreeMap;

use trackway_domain::{RunId, TimerKey, Timestamp};
use trackway_ports::{
    Append, AppendError, AppendFence, ClaimedRun, DriverEpoch, DueHook, DueTimer, Hook, OutboxId, OutboxRow,
    RunLease, WorkClaim, WorkerId, WorkerLease,
};

use super::contents::MemoryContents;

/// Who is alive, who drives which run, and who has claimed what.
#[derive(Debug, Default)]
pub(super) struct MemoryWorkers {
    alive_until: BTreeMap<WorkerId, Timestamp>,
    pub(super) runs: BTreeMap<RunId, RunLease>,
    pub(super) timers: BTreeMap<(RunId, TimerKey), WorkerId>,
    pub(super) hooks: BTreeMap<(RunId, String), WorkerId>,
    pub(super) errands: BTreeMap<OutboxId, WorkerId>,
}

impl MemoryWorkers {
    pub(super) fn renew_lease(&mut self, worker: WorkerId, lease: WorkerLease, now: Timestamp) {
        let until = match lease {
            WorkerLease::Exclusive => {
                self.alive_until.clear();
                Timestamp(i64::MAX)
            }
            WorkerLease::Until(until) => until,
        };
        self.alive_until.retain(|_, until| *until > now);
        self.alive_until.insert(worker, until);
    }

    pub(super) fn release_lease(&mut self, worker: WorkerId) {
        self.alive_until.remove(&worker);
    }

    fn is_alive(&self, worker: WorkerId, now: Timestamp) -> bool {
        self.alive_until.get(&worker).is_some_and(|until| *until > now)
    }

    /// Another live worker has claimed it.
    fn is_claimed_by_other(&self, by: Option<&WorkerId>, claim: WorkClaim) -> bool {
        by.is_some_and(|by| *by != claim.worker && self.is_alive(*by, claim.now))
    }

    /// Why the append is refused.
    pub(super) fn check_fence(&self, append: &Append) -> Result<(), AppendError> {
        let RunLease { epoch, driver } = self.runs.get(&append.run).copied().unwrap_or_default();
        let passes = match append.fence {
            AppendFence::Unfenced => true,
            AppendFence::AtEpoch(held) => held == epoch,
            AppendFence::TakeOver(taken) => driver.is_none() && taken == epoch.next_epoch(),
        };
        if passes { Ok(()) } else { Err(AppendError::Fenced { run: append.run }) }
    }

    /// The run's driver after the append.
    pub(super) fn update_driver(&mut self, append: &Append) {
        let lease = self.runs.entry(append.run).or_default();
        if let AppendFence::TakeOver(epoch) = append.fence {
            *lease = RunLease { epoch, driver: append.worker };
        }
        if append.row.as_ref().is_some_and(|row| !row.runnable && !row.parked) {
            lease.driver = None;
        }
    }

    pub(super) fn remove_claims_of_runs(&mut self, runs: &[RunId]) {
        self.runs.retain(|run, _| !runs.contains(run));
        self.timers.retain(|(run, _), _| !runs.contains(run));
        self.hooks.retain(|(run, _), _| !runs.contains(run));
    }
}

impl MemoryContents {
    pub(super) fn find_run_lease(&self, run: RunId) -> Option<RunLease> {
        self.rows.get(&run).map(|_| self.workers.runs.get(&run).copied().unwrap_or_default())
    }

    pub(super) fn claim_runs(&mut self, claim: WorkClaim) -> Vec<ClaimedRun> {
        let to_drive = self.rows.values().filter(|row| row.runnable || row.parked);
        let free = to_drive.map(|row| row.id).filter(|run| {
            let driver = self.workers.runs.get(run).and_then(|lease| lease.driver);
            driver.is_none_or(|by| by != claim.worker && !self.workers.is_alive(by, claim.now))
        });
        let free: Vec<RunId> = free.take(claim.limit).collect();
        let take = |run| {
            let lease = self.workers.runs.entry(run).or_default();
            let epoch: DriverEpoch = lease.epoch.next_epoch();
            *lease = RunLease { epoch, driver: Some(claim.worker) };
            ClaimedRun { run, epoch }
        };
        free.into_iter().map(take).collect()
    }

    pub(super) fn claim_errands(&mut self, claim: WorkClaim) -> Vec<OutboxRow> {
        let is_free = |id: &OutboxId| {
            let by = self.workers.errands.get(id);
            by.is_none_or(|by| *by != claim.worker && !self.workers.is_alive(*by, claim.now))
        };
        let free = self.outbox.iter().filter(|(id, _)| is_free(id)).take(claim.limit);
        let free: Vec<_> = free.map(|(id, item)| OutboxRow { id: *id, item: item.clone() }).collect();
        self.workers.errands.extend(free.iter().map(|row| (row.id, claim.worker)));
        free
    }

    pub(super) fn claim_due_timers(&mut self, claim: WorkClaim) -> Vec<DueTimer> {
        let workers = &self.workers;
        let due = self.timers.iter().filter(|(key, due)| {
            **due <= claim.now && !workers.is_claimed_by_other(workers.timers.get(key), claim)
        });
        let mut due: Vec<DueTimer> =
            due.map(|((run, timer), due)| DueTimer { run: *run, timer: timer.clone(), due: *due }).collect();
        due.sort_by_key(|timer| timer.due);
        due.truncate(claim.limit);
        let claimed = due.iter().map(|it| ((it.run, it.timer.clone()), claim.worker));
        self.workers.timers.extend(claimed);
        due
    }

    pub(super) fn claim_due_hooks(&mut self, claim: WorkClaim, except: &[String]) -> Vec<DueHook> {
        let tenant = |hook: &Hook| {
            let row = self.rows.get(&hook.run);
            row.map_or_else(String::new, |row| row.caller.tenant.to_string())
        };
        let is_taken = |hook: &Hook| {
            let by = self.workers.hooks.get(&(hook.run, hook.id.clone()));
            self.workers.is_claimed_by_other(by, claim)
        };
        let due = self.hooks.list_due_hooks(claim.now).into_iter().filter(|hook| !is_taken(hook));
        let due = due.map(|hook| DueHook { tenant: tenant(&hook), hook });
        let due = due.filter(|due| !except.contains(&due.tenant)).take(claim.limit);
        let due: Vec<DueHook> = due.collect();
        let claimed = due.iter().map(|it| ((it.hook.run, it.hook.id.clone()), claim.worker));
        self.workers.hooks.extend(claimed);
        due
    }
}
