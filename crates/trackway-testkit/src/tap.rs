//! A journal with an interceptor between it and its user.

use std::{fmt, sync::Arc};

use trackway_domain::{Access, Caller, NodeId, Pos, RunId, Seq, SessionId, Timestamp};
use trackway_ports::{
    Append, AppendError, AppendId, AskedPlace, AttemptKey, Claim, ClaimKey, ClaimedRun, Done,
    DueHook, DueTimer, FeedCursor, FeedPage, Hook, Journal, Lease, Leases, Lineage, LineageLimits,
    NodePlace, OutboxId, OutboxRow, PortFuture, ReadError, ReadFuture, Receipt, Removal, RunFilter,
    RunLease, RunPage, RunQuery, RunRow, SessionRow, Stored, WorkClaim, WorkerId, WriteFuture,
};

/// An interceptor of journal calls.
pub trait Tap: fmt::Debug + Send + Sync {
    fn append(&self, journal: &Arc<dyn Journal>, append: Append, done: Done) {
        journal.append(append, done);
    }

    /// Awaited before each read; `run` is set for reads of one run's events.
    fn before_read(&self, _run: Option<RunId>) -> PortFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Why a read, or other awaited work, fails at the moment.
    fn outage(&self) -> Option<String> {
        None
    }

    /// Awaited before a message is looked up.
    fn before_claim(&self, _key: &ClaimKey) -> PortFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The journal is about to be closed.
    fn close(&self) {}
}

/// The journal behind an interceptor.
#[derive(Debug, Clone)]
pub struct Tapped {
    journal: Arc<dyn Journal>,
    tap: Arc<dyn Tap>,
}

impl Tapped {
    pub fn new(journal: Arc<dyn Journal>, tap: Arc<dyn Tap>) -> Self {
        Self { journal, tap }
    }

    /// Awaits the interceptor, then reads.
    fn read<'a, T: Send + 'a>(
        &'a self,
        run: Option<RunId>,
        read: impl FnOnce(&'a dyn Journal) -> ReadFuture<'a, T> + Send + 'a,
    ) -> ReadFuture<'a, T> {
        Box::pin(async move {
            self.tap.before_read(run).await;
            match self.tap.outage() {
                Some(reason) => Err(ReadError::Unavailable { reason }),
                None => read(&*self.journal).await,
            }
        })
    }

    /// The same for writes that are not appends.
    fn write<'a>(
        &'a self,
        write: impl FnOnce(&'a dyn Journal) -> WriteFuture<'a> + Send + 'a,
    ) -> WriteFuture<'a> {
        Box::pin(async move {
            self.tap.before_read(None).await;
            match self.tap.outage() {
                Some(reason) => Err(AppendError::Unavailable { reason }),
                None => write(&*self.journal).await,
            }
        })
    }
}

impl Journal for Tapped {
    fn append(&self, append: Append, done: Done) {
        self.tap.append(&self.journal, append, done);
    }

    fn receipt(&self, run: RunId, expected: Seq, id: AppendId) -> ReadFuture<'_, Option<Receipt>> {
        self.read(Some(run), move |journal| journal.receipt(run, expected, id))
    }

    fn feed(&self, access: Access, after: FeedCursor, limit: usize) -> ReadFuture<'_, FeedPage> {
        self.read(None, move |journal| journal.feed(access, after, limit))
    }

    fn events(&self, run: RunId, after: Seq, limit: usize) -> ReadFuture<'_, Vec<Stored>> {
        self.read(Some(run), move |journal| journal.events(run, after, limit))
    }

    fn events_after_pos(
        &self,
        run: RunId,
        after: Pos,
        limit: usize,
    ) -> ReadFuture<'_, Vec<Stored>> {
        self.read(Some(run), move |journal| journal.events_after_pos(run, after, limit))
    }

    fn newest_events(&self, run: RunId, limit: usize) -> ReadFuture<'_, Vec<Stored>> {
        self.read(Some(run), move |journal| journal.newest_events(run, limit))
    }

    fn run(&self, run: RunId) -> ReadFuture<'_, Option<RunRow>> {
        self.read(None, move |journal| journal.run(run))
    }

    fn runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunRow>> {
        self.read(None, move |journal| journal.runs(filter, before, limit))
    }

    fn runs_by_status(&self, query: RunQuery) -> ReadFuture<'_, RunPage> {
        self.read(None, move |journal| journal.runs_by_status(query))
    }

    fn waiting(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunId>> {
        self.read(None, move |journal| journal.waiting(caller, session, workflow, limit))
    }

    fn claim(&self, key: ClaimKey) -> ReadFuture<'_, Option<Claim>> {
        Box::pin(async move {
            self.tap.before_claim(&key).await;
            self.read(None, move |journal| journal.claim(key)).await
        })
    }

    fn newest_time(&self) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(None, Journal::newest_time)
    }

    fn next_timer(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(None, move |journal| journal.next_timer(now))
    }

    fn outbox(&self, after: Option<OutboxId>, limit: usize) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.read(None, move |journal| journal.outbox(after, limit))
    }

    fn hooks(&self, run: RunId) -> ReadFuture<'_, Vec<Hook>> {
        self.read(None, move |journal| journal.hooks(run))
    }

    fn next_hook(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(None, move |journal| journal.next_hook(now))
    }

    fn node(&self, run: RunId, node: NodeId) -> ReadFuture<'_, Option<NodePlace>> {
        self.read(Some(run), move |journal| journal.node(run, node))
    }

    fn attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<Stored>> {
        self.read(Some(key.run), move |journal| journal.attempt(key))
    }

    fn asked(&self, key: AttemptKey) -> ReadFuture<'_, Option<AskedPlace>> {
        self.read(Some(key.run), move |journal| journal.asked(key))
    }

    fn lineage(&self, run: RunId, node: NodeId, limits: LineageLimits) -> ReadFuture<'_, Lineage> {
        self.read(Some(run), move |journal| journal.lineage(run, node, limits))
    }

    fn pinned(&self, hash: String) -> ReadFuture<'_, Option<String>> {
        self.read(None, move |journal| journal.pinned(hash))
    }

    fn sessions(&self, access: Access, limit: usize) -> ReadFuture<'_, Vec<SessionRow>> {
        self.read(None, move |journal| journal.sessions(access, limit))
    }

    fn session_runs(&self, access: Access, session: SessionId) -> ReadFuture<'_, Vec<RunRow>> {
        self.read(None, move |journal| journal.session_runs(access, session))
    }

    // The following methods write, and are awaited like reads: a dead process does neither.
    fn remove(&self, removal: Removal) -> WriteFuture<'_> {
        self.write(move |journal| journal.remove(removal))
    }

    fn append_all(&self, appends: Vec<Append>) -> WriteFuture<'_> {
        self.write(move |journal| journal.append_all(appends))
    }

    fn close(&self) -> PortFuture<'_, ()> {
        self.tap.close();
        self.journal.close()
    }
}

impl Leases for Tapped {
    fn hold(&self, worker: WorkerId, lease: Lease, now: Timestamp) -> WriteFuture<'_> {
        self.write(move |journal| journal.hold(worker, lease, now))
    }

    fn release(&self, worker: WorkerId) -> WriteFuture<'_> {
        self.write(move |journal| journal.release(worker))
    }

    fn run_lease(&self, run: RunId) -> ReadFuture<'_, Option<RunLease>> {
        self.read(None, move |journal| journal.run_lease(run))
    }

    fn claim_runs(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<ClaimedRun>> {
        self.read(None, move |journal| journal.claim_runs(claim))
    }

    fn claim_errands(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.read(None, move |journal| journal.claim_errands(claim))
    }

    fn claim_timers(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<DueTimer>> {
        self.read(None, move |journal| journal.claim_timers(claim))
    }

    fn claim_hooks(&self, claim: WorkClaim, except: Vec<String>) -> ReadFuture<'_, Vec<DueHook>> {
        self.read(None, move |journal| journal.claim_hooks(claim, except))
    }
}
