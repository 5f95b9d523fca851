//! Leases and claims in the database. A worker with the exclusive lease does not record its claims, because
//! no other worker reads them.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use trackway_domain::{RunId, Timestamp};
use trackway_ports::{
    AppendError, ClaimedRun, DueHook, DueTimer, Leases, OutboxRow, ReadError, ReadFuture, RunLease,
    WorkClaim, WorkerId, WorkerLease, WriteFuture,
};

use crate::{SqliteJournal, read, write_jobs::MaintenanceRequest, writer::lease_writes};

impl SqliteJournal {
    /// Runs a claim in a transaction of the writer, and returns its result after the commit. `taken`
    /// returns the runs whose driver changed.
    fn run_claim_transaction<T: Send + 'static>(
        &self,
        claim: impl Fn(&Connection) -> Result<T, ReadError> + Send + 'static,
        claimed_runs: impl Fn(&T) -> Vec<RunId> + Send + 'static,
    ) -> ReadFuture<'_, T> {
        let found = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&found);
        let work = move |conn: &Connection| {
            let claimed = claim(conn)?;
            let runs = claimed_runs(&claimed);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(claimed);
            Ok(runs)
        };
        let done = self.enqueue_maintenance_and_wait(MaintenanceRequest::Claim(Box::new(work)));
        Box::pin(async move {
            done.await.map_err(claim_error_from_append_error)?;
            let found = found.lock().unwrap_or_else(PoisonError::into_inner).take();
            found.ok_or_else(|| ReadError::Broken { reason: "nothing was claimed".to_owned() })
        })
    }

    fn holds_exclusive_lease(&self, worker: WorkerId) -> bool {
        *self.lock_exclusive_worker() == Some(worker)
    }

    fn lock_exclusive_worker(&self) -> std::sync::MutexGuard<'_, Option<WorkerId>> {
        self.sole.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of a failed claim, as its caller gets it.
fn claim_error_from_append_error(error: AppendError) -> ReadError {
    let reason = error.to_string();
    match error {
        AppendError::Unavailable { reason } => ReadError::Unavailable { reason },
        _ => ReadError::Broken { reason },
    }
}

impl Leases for SqliteJournal {
    fn acquire_or_renew_lease(
        &self,
        worker: WorkerId,
        lease: WorkerLease,
        now: Timestamp,
    ) -> WriteFuture<'_> {
        *self.lock_exclusive_worker() = None;
        let hold = move |conn: &Connection| {
            lease_writes::acquire_or_renew_worker_lease(conn, worker, lease, now.millis())
                .map(|()| Vec::new())
        };
        let held = self.enqueue_maintenance_and_wait(MaintenanceRequest::Claim(Box::new(hold)));
        Box::pin(async move {
            held.await?;
            *self.lock_exclusive_worker() = (lease == WorkerLease::Exclusive).then_some(worker);
            Ok(())
        })
    }

    fn release_lease(&self, worker: WorkerId) -> WriteFuture<'_> {
        let release =
            move |conn: &Connection| lease_writes::delete_worker_lease(conn, worker).map(|()| Vec::new());
        self.enqueue_maintenance_and_wait(MaintenanceRequest::Claim(Box::new(release)))
    }

    fn find_run_lease(&self, run: RunId) -> ReadFuture<'_, Option<RunLease>> {
        self.read_on_pool(move |from| read::find_run_lease(from.conn, run))
    }

    fn claim_abandoned_runs(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<ClaimedRun>> {
        let runs = |claimed: &Vec<ClaimedRun>| claimed.iter().map(|it| it.run).collect();
        self.run_claim_transaction(move |conn| lease_writes::claim_runs(conn, claim), runs)
    }

    fn claim_unclaimed_errands(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.run_claim_transaction(move |conn| lease_writes::claim_errands(conn, claim), |_| Vec::new())
    }

    fn claim_due_timers(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<DueTimer>> {
        if self.holds_exclusive_lease(claim.worker) {
            return self.read_on_pool(move |from| read::list_due_timers(from.conn, claim));
        }
        self.run_claim_transaction(move |conn| lease_writes::claim_due_timers(conn, claim), |_| Vec::new())
    }

    fn claim_due_hooks(&self, claim: WorkClaim, except: Vec<String>) -> ReadFuture<'_, Vec<DueHook>> {
        if self.holds_exclusive_lease(claim.worker) {
            return self.read_on_pool(move |from| read::list_due_hooks(from.conn, claim, &except));
        }
        self.run_claim_transaction(
            move |conn| lease_writes::claim_due_hooks(conn, claim, &except),
            |_| Vec::new(),
        )
    }
}
