//! The lease of this process, and taking over what belongs to workers that are not alive any more. After a
//! crash that is everything; among several nodes it is what another one lost.

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
    AppendId, Fence, Ids, Lease, LeaseTerm, ReadError, RunLease, WorkClaim, WorkerId,
};

use crate::{
    Error,
    command::Attached,
    core::Core,
    drive::is_over,
    live::{Head, LiveRef},
    supervise::Supervisor,
};

/// Rows claimed at once while looking for work.
const CLAIMED_ROWS: usize = 256;

/// The worker that this process is.
#[derive(Debug)]
pub(crate) struct Worker {
    /// Another one after the lease was lost.
    id: RwLock<WorkerId>,
    /// The lease is held, so that runs may be driven.
    held: watch::Sender<bool>,
    /// When it has to stop driving, unless the lease is renewed before.
    ends: watch::Sender<Option<Timestamp>>,
    /// The id of the next append. They begin at random and are counted from there.
    append: AtomicU64,
}

impl Worker {
    pub(crate) fn new(ids: &dyn Ids, term: LeaseTerm) -> Self {
        Self {
            id: RwLock::new(WorkerId(ids.uuid())),
            held: watch::Sender::new(term == LeaseTerm::Sole),
            ends: watch::Sender::new(None),
            append: AtomicU64::new(ids.random()),
        }
    }

    pub(crate) fn id(&self) -> WorkerId {
        *self.id.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn append_id(&self) -> AppendId {
        AppendId(self.append.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn is_held(&self) -> bool {
        *self.held.borrow()
    }
}

/// Who drives a run, as its head knows it: what was decided, durable or not.
#[derive(Debug, Default)]
pub(crate) struct HeadLease {
    known: RunLease,
    /// The next append takes the run.
    takes: bool,
}

impl HeadLease {
    /// As the store has it. What was claimed since it was read is newer.
    pub(crate) fn set(&mut self, stored: RunLease) {
        if stored.epoch >= self.known.epoch {
            *self = Self { known: stored, takes: false };
        }
    }

    /// The run goes on by what is decided now. Where nobody drives it, this worker does from here on. True
    /// where it is this worker.
    pub(crate) fn take(&mut self, worker: WorkerId) -> bool {
        if self.known.driver.is_none() {
            self.known = RunLease { epoch: self.known.epoch.next(), driver: Some(worker) };
            self.takes = true;
        }
        self.known.driver == Some(worker)
    }

    /// What the next append says of it.
    pub(crate) fn fence(&mut self, worker: WorkerId) -> Fence {
        let RunLease { epoch, driver } = self.known;
        match driver == Some(worker) {
            true if std::mem::take(&mut self.takes) => Fence::Take(epoch),
            true => Fence::Held(epoch),
            false => Fence::Open,
        }
    }

    /// The run needs no driver any more.
    pub(crate) fn end(&mut self) {
        self.known.driver = None;
    }

    /// Nobody drives the run, so that whoever answers it may.
    pub(crate) fn is_free(&self) -> bool {
        self.known.driver.is_none()
    }

    fn driver(&self) -> Option<WorkerId> {
        self.known.driver
    }
}

/// Holds the lease until the runtime stops, and takes over what others left.
pub(crate) async fn run(core: Arc<Core>) {
    let mut takeover: Option<JoinHandle<()>> = None;
    let mut supervisor = Supervisor::new(&core, "lease");
    loop {
        // Renewing goes on while a takeover takes its time.
        let renewed = async {
            match hold(&core).await {
                Ok(next) => {
                    supervisor.succeeded();
                    if takeover.as_ref().is_none_or(JoinHandle::is_finished) {
                        takeover = Some(core.tokio.spawn(take_over(core.clone())));
                    }
                    core.until_stopping_or(next).await
                }
                Err(error) => supervisor.failed(&error).await,
            }
        };
        tokio::select! {
            biased;
            renewed = renewed => match renewed {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(()) => return,
            },
            () = core.until_lease_ends() => core.end_lease(),
        }
    }
}

/// Begins the lease, or renews it. When to renew it next; never, where it does not end.
async fn hold(core: &Core) -> Result<Option<Timestamp>, Error> {
    let (now, worker) = (core.now(), core.worker.id());
    let (lease, next) = match core.options.lease {
        LeaseTerm::Sole => (Lease::Sole, None),
        LeaseTerm::Renewed(term) => (Lease::Until(now + term), Some(now + term / 3)),
    };
    core.options.journal.hold(worker, lease, now).await.map_err(|error| Error::append(&error))?;
    // A quarter of it is left to stop in.
    let ends = match core.options.lease {
        LeaseTerm::Sole => None,
        LeaseTerm::Renewed(term) => Some(now + term * 3 / 4),
    };
    core.worker.ends.send_replace(ends);
    core.worker.held.send_replace(true);
    Ok(next)
}

/// Takes over what no worker that is alive has, and looks again at what is due: that may have been another
/// worker's until now.
async fn take_over(core: Arc<Core>) {
    let mut supervisor = Supervisor::new(&core, "recovery");
    while core.options.recover
        && let Err(error) = claim_all(&core).await
    {
        if supervisor.failed(&error).await.is_break() {
            return;
        }
    }
    core.alarm.set(core.now());
    core.hooks.ring();
}

/// Errands first, since they make runs, then programs.
async fn claim_all(core: &Arc<Core>) -> Result<(), ReadError> {
    let claim = || WorkClaim { worker: core.worker.id(), now: core.now(), limit: CLAIMED_ROWS };
    let journal = &core.options.journal;
    loop {
        let errands = journal.claim_errands(claim()).await?;
        if errands.is_empty() {
            break;
        }
        // In order and one at a time: errands about one child must keep their order.
        for row in errands {
            if core.is_stopping() {
                return Ok(());
            }
            core.do_errand(row.id, row.item).await;
        }
    }
    let mut runs = 0;
    loop {
        let claimed = journal.claim_runs(claim()).await?;
        if claimed.is_empty() {
            break;
        }
        runs += claimed.len();
        for claimed in claimed {
            core.reach("recovery:run");
            if let Some(live) = core.lives.find(claimed.run) {
                let driver = Some(core.worker.id());
                live.head().lease.set(RunLease { epoch: claimed.epoch, driver });
            }
            core.wake(claimed.run);
        }
    }
    if runs > 0 {
        tracing::info!(runs, "unfinished runs go on");
    }
    Ok(())
}

impl Core {
    /// Waits for that moment, or for ever; breaks off when the runtime stops.
    async fn until_stopping_or(&self, moment: Option<Timestamp>) -> ControlFlow<()> {
        let mut stopping = self.stopping.subscribe();
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => ControlFlow::Break(()),
            () = self.sleep_until(moment) => ControlFlow::Continue(()),
        }
    }

    async fn until_lease_ends(&self) {
        let mut ends = self.worker.ends.subscribe();
        loop {
            let moment = *ends.borrow_and_update();
            tokio::select! {
                // It was renewed meanwhile.
                _ = ends.changed() => {}
                () = self.sleep_until(moment) => return,
            }
        }
    }

    /// Before others may take over, nothing more is driven here. What goes on later does so as another
    /// worker.
    fn end_lease(&self) {
        tracing::warn!("the lease of this node could not be renewed; it stops driving runs");
        self.worker.ends.send_replace(None);
        self.worker.held.send_replace(false);
        let fresh = WorkerId(self.options.ids.uuid());
        *self.worker.id.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        for live in self.lives.all() {
            self.invalidate(&live);
        }
    }

    /// Ends the lease of a node, so that others need not wait for its end. A store that is away need not
    /// know of it.
    pub(crate) async fn release_lease(&self) {
        if let LeaseTerm::Renewed(_) = self.options.lease
            && let Err(error) = self.options.journal.release(self.worker.id()).await
        {
            tracing::debug!(%error, "the lease ends by itself");
        }
    }

    /// Waits until this process may drive runs.
    pub(crate) async fn until_held(&self) -> Result<(), Error> {
        let (mut held, mut stopping) = (self.worker.held.subscribe(), self.stopping.subscribe());
        tokio::select! {
            biased;
            _ = held.wait_for(|held| *held) => Ok(()),
            _ = stopping.wait_for(|stop| *stop) => Err(Error::Stopping),
        }
    }

    /// Makes this process the driver of the run, where nobody is. False where another one is.
    pub(crate) async fn take_lease(self: &Arc<Self>, live: &mut LiveRef) -> Result<bool, Error> {
        loop {
            self.until_held().await?;
            let permit = Some(self.permit().await?);
            let ordered = {
                let mut head = live.head();
                let worker = self.worker.id();
                match head.lease.driver() {
                    _ if !needs_driver(&head) => return Ok(true),
                    Some(driver) => return Ok(driver == worker),
                    None if !head.void => {
                        head.lease.take(worker);
                        head.runnable = true;
                        head.row = None;
                        let attached = Attached { permit, ..Attached::default() };
                        Some(self.order_rows(live, &mut head, attached))
                    }
                    None => None,
                }
            };
            if let Some(ordered) = ordered
                && self.durable(live, ordered).await?.is_some()
            {
                return Ok(true);
            }
            *live = self.load(live.id).await?;
        }
    }
}

fn needs_driver(head: &Head) -> bool {
    head.run.as_ref().is_some_and(|run| !is_over(run))
}
