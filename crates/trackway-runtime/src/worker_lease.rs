//! The lease of this process, and the takeover of work of workers that are no longer alive. After a crash
//! that is everything; with several nodes it is what another node lost.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{sync::watch, task::JoinHandle};
use trackway_domain::Timestamp;
use trackway_ports::{
    AppendFence, AppendId, IdSource, LeaseMode, ReadError, RunLease, WorkClaim, WorkerId, WorkerLease,
};

use crate::{
    Error,
    command_execution::CommandAttachments,
    live_run::{DecidedRunHead, LiveRunRef},
    program_drive::needs_no_program,
    runtime_core::RuntimeCore,
    task_supervisor::TaskSupervisor,
};

/// Rows claimed at once while looking for work.
const CLAIMED_ROWS: usize = 256;

/// The identity of this process as a worker.
#[derive(Debug)]
pub(crate) struct ProcessWorker {
    /// A new id after the lease was lost.
    id: RwLock<WorkerId>,
    /// Whether the lease is held, so that runs may be driven.
    is_lease_held: watch::Sender<bool>,
    /// When this process has to stop driving, unless it renews the lease before.
    lease_ends: watch::Sender<Option<Timestamp>>,
    /// The id of the next append. The first is random, and the others count from it.
    next_append: AtomicU64,
}

impl ProcessWorker {
    pub(crate) fn new(ids: &dyn IdSource, term: LeaseMode) -> Self {
        Self {
            id: RwLock::new(WorkerId(ids.new_uuid())),
            is_lease_held: watch::Sender::new(term == LeaseMode::Exclusive),
            lease_ends: watch::Sender::new(None),
            next_append: AtomicU64::new(ids.random_u64()),
        }
    }

    pub(crate) fn worker_id(&self) -> WorkerId {
        *self.id.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn next_append_id(&self) -> AppendId {
        AppendId(self.next_append.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn is_lease_held(&self) -> bool {
        *self.is_lease_held.borrow()
    }
}

/// Which worker drives a run, as its head knows it: what was decided, durable or not.
#[derive(Debug, Default)]
pub(crate) struct RunDriverLease {
    lease: RunLease,
    /// The next append takes the run.
    is_taking: bool,
}

impl RunDriverLease {
    /// Updates it from the store. A claim since that read is newer and stays.
    pub(crate) fn update_driver_from_store(&mut self, stored: RunLease) {
        if stored.epoch >= self.lease.epoch {
            *self = Self { lease: stored, is_taking: false };
        }
    }

    /// The run continues with what is decided now. If no worker drives it, this worker does from here on.
    /// True if it is this worker.
    pub(crate) fn take_driver_if_free(&mut self, worker: WorkerId) -> bool {
        if self.lease.driver.is_none() {
            self.lease = RunLease { epoch: self.lease.epoch.next_epoch(), driver: Some(worker) };
            self.is_taking = true;
        }
        self.lease.driver == Some(worker)
    }

    /// The fence of the next append.
    pub(crate) fn next_append_fence(&mut self, worker: WorkerId) -> AppendFence {
        let RunLease { epoch, driver } = self.lease;
        match driver == Some(worker) {
            true if std::mem::take(&mut self.is_taking) => AppendFence::TakeOver(epoch),
            true => AppendFence::AtEpoch(epoch),
            false => AppendFence::Unfenced,
        }
    }

    /// The run needs no driver any more.
    pub(crate) fn clear_run_driver(&mut self) {
        self.lease.driver = None;
    }

    /// No worker drives the run, so the worker that answers it may.
    pub(crate) fn has_no_driver(&self) -> bool {
        self.lease.driver.is_none()
    }

    fn driver_worker(&self) -> Option<WorkerId> {
        self.lease.driver
    }
}

/// Holds the lease until the runtime stops, and takes over abandoned work.
pub(crate) async fn run_lease_renewal_loop(core: Arc<RuntimeCore>) {
    let mut takeover: Option<JoinHandle<()>> = None;
    let mut supervisor = TaskSupervisor::new(&core, "lease");
    loop {
        // The lease is renewed while a takeover is in progress.
        let renewed = async {
            match acquire_or_renew_worker_lease(&core).await {
                Ok(next) => {
                    supervisor.on_task_success();
                    if takeover.as_ref().is_none_or(JoinHandle::is_finished) {
                        takeover = Some(core.tokio.spawn(take_over_abandoned_work(core.clone())));
                    }
                    core.sleep_unless_stopping(next).await
                }
                Err(error) => supervisor.back_off_after_failure(&error).await,
            }
        };
        tokio::select! {
            biased;
            renewed = renewed => match renewed {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(()) => return,
            },
            () = core.wait_until_worker_lease_ends() => core.on_worker_lease_lost(),
        }
    }
}

/// Begins or renews the lease. Returns when to renew it next; none if it does not end.
async fn acquire_or_renew_worker_lease(core: &RuntimeCore) -> Result<Option<Timestamp>, Error> {
    let (now, worker) = (core.now(), core.worker.worker_id());
    let (lease, next) = match core.options.lease {
        LeaseMode::Exclusive => (WorkerLease::Exclusive, None),
        LeaseMode::Renewed(term) => (WorkerLease::Until(now + term), Some(now + term / 3)),
    };
    core.options
        .journal
        .acquire_or_renew_lease(worker, lease, now)
        .await
        .map_err(|error| Error::from_append_error(&error))?;
    // The last quarter of the lease is left for stopping.
    let ends = match core.options.lease {
        LeaseMode::Exclusive => None,
        LeaseMode::Renewed(term) => Some(now + term * 3 / 4),
    };
    core.worker.lease_ends.send_replace(ends);
    core.worker.is_lease_held.send_replace(true);
    Ok(next)
}

/// Takes over work that no live worker has, and looks again at what is due: until now it may have belonged to
/// another worker.
async fn take_over_abandoned_work(core: Arc<RuntimeCore>) {
    let mut supervisor = TaskSupervisor::new(&core, "recovery");
    while core.options.resume_unfinished
        && let Err(error) = claim_abandoned_work(&core).await
    {
        if supervisor.back_off_after_failure(&error).await.is_break() {
            return;
        }
    }
    core.alarm.set_alarm_if_sooner(core.now());
    core.hooks.signal_hook_due();
}

/// Errands first, because they create runs, then programs.
async fn claim_abandoned_work(core: &Arc<RuntimeCore>) -> Result<(), ReadError> {
    let claim = || WorkClaim { worker: core.worker.worker_id(), now: core.now(), limit: CLAIMED_ROWS };
    let journal = &core.options.journal;
    loop {
        let errands = journal.claim_unclaimed_errands(claim()).await?;
        if errands.is_empty() {
            break;
        }
        // In order and one at a time: errands about one child must keep their order.
        for row in errands {
            if core.is_stopping() {
                return Ok(());
            }
            core.run_errand_with_retry(row.id, row.item).await;
        }
    }
    let mut runs = 0;
    loop {
        let claimed = journal.claim_abandoned_runs(claim()).await?;
        if claimed.is_empty() {
            break;
        }
        runs += claimed.len();
        for claimed in claimed {
            core.reach_fault_point("recovery:run");
            if let Some(live) = core.live_runs.find_live_run(claimed.run) {
                let driver = Some(core.worker.worker_id());
                live.lock_head().lease.update_driver_from_store(RunLease { epoch: claimed.epoch, driver });
            }
            core.wake_run(claimed.run);
        }
    }
    if runs > 0 {
        tracing::info!(runs, "unfinished runs go on");
    }
    Ok(())
}

impl RuntimeCore {
    /// Waits for that moment, or forever; returns early when the runtime stops.
    pub(crate) async fn sleep_unless_stopping(&self, moment: Option<Timestamp>) -> ControlFlow<()> {
        let mut stopping = self.stopping.subscribe();
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => ControlFlow::Break(()),
            () = self.sleep_until(moment) => ControlFlow::Continue(()),
        }
    }

    async fn wait_until_worker_lease_ends(&self) {
        let mut ends = self.worker.lease_ends.subscribe();
        loop {
            let moment = *ends.borrow_and_update();
            tokio::select! {
                // It was renewed in the meantime.
                _ = ends.changed() => {}
                () = self.sleep_until(moment) => return,
            }
        }
    }

    /// Before others may take over, this process stops driving. Later it continues as another worker.
    fn on_worker_lease_lost(&self) {
        tracing::warn!("the lease of this node could not be renewed; it stops driving runs");
        self.worker.lease_ends.send_replace(None);
        self.worker.is_lease_held.send_replace(false);
        let fresh = WorkerId(self.options.ids.new_uuid());
        *self.worker.id.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        for live in self.live_runs.list_live_runs() {
            self.invalidate_live_run(&live);
        }
    }

    /// Ends the lease of a node, so that others need not wait for it to expire. It is no error if the store
    /// cannot be reached.
    pub(crate) async fn release_worker_lease(&self) {
        if let LeaseMode::Renewed(_) = self.options.lease
            && let Err(error) = self.options.journal.release_lease(self.worker.worker_id()).await
        {
            tracing::debug!(%error, "the lease ends by itself");
        }
    }

    /// Waits until this process may drive runs.
    pub(crate) async fn wait_for_worker_lease(&self) -> Result<(), Error> {
        let (mut held, mut stopping) = (self.worker.is_lease_held.subscribe(), self.stopping.subscribe());
        tokio::select! {
            biased;
            _ = held.wait_for(|held| *held) => Ok(()),
            _ = stopping.wait_for(|stop| *stop) => Err(Error::Stopping),
        }
    }

    /// Makes this process the driver of the run, if no worker is. False if another one is.
    pub(crate) async fn take_run_driver_lease(
        self: &Arc<Self>,
        live: &mut LiveRunRef,
    ) -> Result<bool, Error> {
        loop {
            self.wait_for_worker_lease().await?;
            let permit = Some(self.acquire_append_permit().await?);
            let ordered = {
                let mut head = live.lock_head();
                let worker = self.worker.worker_id();
                match head.lease.driver_worker() {
                    _ if !run_needs_driver(&head) => return Ok(true),
                    Some(driver) => return Ok(driver == worker),
                    None if !head.stale => {
                        head.lease.take_driver_if_free(worker);
                        head.runnable = true;
                        head.row = None;
                        let attached = CommandAttachments { permit, ..CommandAttachments::default() };
                        Some(self.append_without_events(live, &mut head, attached))
                    }
                    None => None,
                }
            };
            if let Some(ordered) = ordered
                && self.wait_for_commit(live, ordered).await?.is_some()
            {
                return Ok(true);
            }
            *live = self.load_run_for_write(live.id).await?;
        }
    }
}

fn run_needs_driver(head: &DecidedRunHead) -> bool {
    head.run.as_ref().is_some_and(|run| !needs_no_program(run))
}
