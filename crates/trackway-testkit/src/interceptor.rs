//! A journal with an interceptor between it and its user.

use std::{fmt, sync::Arc};

use trackway_domain::{Access, Caller, NodeId, Position, RunId, Seq, SessionId, Timestamp};
use trackway_ports::{
    Append, AppendCallback, AppendError, AppendId, AppendReceipt, AttemptKey, ClaimedRun, DueHook, DueTimer,
    FeedCursor, FeedPage, Hook, Journal, Leases, LineageLimits, MessageClaim, MessageClaimKey, NodeLineage,
    NodeWithAttempt, OutboxId, OutboxRow, PortFuture, ReadError, ReadFuture, RunFilter, RunLease, RunPage,
    RunRemoval, RunRow, SessionRow, StatusTimeQuery, StoredEvent, StoredNode, WorkClaim, WorkerId,
    WorkerLease, WriteFuture,
};

/// An interceptor of journal calls.
pub trait JournalInterceptor: fmt::Debug + Send + Sync {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        journal.append(append, done);
    }

    /// Awaited before each read; `run` is set for reads of one run's events.
    fn before_read(&self, _run: Option<RunId>) -> PortFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Why a read, or other awaited work, fails at the moment.
    fn outage_reason(&self) -> Option<String> {
        None
    }

    /// Awaited before a message is looked up.
    fn before_claim_lookup(&self, _key: &MessageClaimKey) -> PortFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The journal is about to be closed.
    fn before_close(&self) {}
}

/// The journal behind an interceptor.
#[derive(Debug, Clone)]
pub struct InterceptedJournal {
    journal: Arc<dyn Journal>,
    tap: Arc<dyn JournalInterceptor>,
}

impl InterceptedJournal {
    pub fn new(journal: Arc<dyn Journal>, tap: Arc<dyn JournalInterceptor>) -> Self {
        Self { journal, tap }
    }

    /// Awaits the interceptor, then reads.
    fn intercept_read<'a, T: Send + 'a>(
        &'a self,
        run: Option<RunId>,
        read: impl FnOnce(&'a dyn Journal) -> ReadFuture<'a, T> + Send + 'a,
    ) -> ReadFuture<'a, T> {
        Box::pin(async move {
            self.tap.before_read(run).await;
            match self.tap.outage_reason() {
                Some(reason) => Err(ReadError::Unavailable { reason }),
                None => read(&*self.journal).await,
            }
        })
    }

    /// The same for writes that are not appends.
    fn intercept_write<'a>(
        &'a self,
        write: impl FnOnce(&'a dyn Journal) -> WriteFuture<'a> + Send + 'a,
    ) -> WriteFuture<'a> {
        Box::pin(async move {
            self.tap.before_read(None).await;
            match self.tap.outage_reason() {
                Some(reason) => Err(AppendError::Unavailable { reason }),
                None => write(&*self.journal).await,
            }
        })
    }
}

impl Journal for InterceptedJournal {
    fn append(&self, append: Append, done: AppendCallback) {
        self.tap.intercept_append(&self.journal, append, done);
    }

    fn find_append_receipt(
        &self,
        run: RunId,
        expected: Seq,
        id: AppendId,
    ) -> ReadFuture<'_, Option<AppendReceipt>> {
        self.intercept_read(Some(run), move |journal| journal.find_append_receipt(run, expected, id))
    }

    fn list_feed_events(&self, access: Access, after: FeedCursor, limit: usize) -> ReadFuture<'_, FeedPage> {
        self.intercept_read(None, move |journal| journal.list_feed_events(access, after, limit))
    }

    fn list_events(&self, run: RunId, after: Seq, limit: usize) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.intercept_read(Some(run), move |journal| journal.list_events(run, after, limit))
    }

    fn list_events_after_position(
        &self,
        run: RunId,
        after: Position,
        limit: usize,
    ) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.intercept_read(Some(run), move |journal| journal.list_events_after_position(run, after, limit))
    }

    fn list_newest_events(&self, run: RunId, limit: usize) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.intercept_read(Some(run), move |journal| journal.list_newest_events(run, limit))
    }

    fn find_run(&self, run: RunId) -> ReadFuture<'_, Option<RunRow>> {
        self.intercept_read(None, move |journal| journal.find_run(run))
    }

    fn list_runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunRow>> {
        self.intercept_read(None, move |journal| journal.list_runs(filter, before, limit))
    }

    fn list_runs_by_status_time(&self, query: StatusTimeQuery) -> ReadFuture<'_, RunPage> {
        self.intercept_read(None, move |journal| journal.list_runs_by_status_time(query))
    }

    fn list_waiting_runs(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunId>> {
        self.intercept_read(None, move |journal| journal.list_waiting_runs(caller, session, workflow, limit))
    }

    fn find_message_claim(&self, key: MessageClaimKey) -> ReadFuture<'_, Option<MessageClaim>> {
        Box::pin(async move {
            self.tap.before_claim_lookup(&key).await;
            self.intercept_read(None, move |journal| journal.find_message_claim(key)).await
        })
    }

    fn newest_event_time(&self) -> ReadFuture<'_, Option<Timestamp>> {
        self.intercept_read(None, Journal::newest_event_time)
    }

    fn next_timer_due(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.intercept_read(None, move |journal| journal.next_timer_due(now))
    }

    fn list_outbox(&self, after: Option<OutboxId>, limit: usize) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.intercept_read(None, move |journal| journal.list_outbox(after, limit))
    }

    fn list_hooks(&self, run: RunId) -> ReadFuture<'_, Vec<Hook>> {
        self.intercept_read(None, move |journal| journal.list_hooks(run))
    }

    fn next_hook_due(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.intercept_read(None, move |journal| journal.next_hook_due(now))
    }

    fn find_node(&self, run: RunId, node: NodeId) -> ReadFuture<'_, Option<StoredNode>> {
        self.intercept_read(Some(run), move |journal| journal.find_node(run, node))
    }

    fn find_attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<StoredEvent>> {
        self.intercept_read(Some(key.run), move |journal| journal.find_attempt(key))
    }

    fn find_node_and_attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<NodeWithAttempt>> {
        self.intercept_read(Some(key.run), move |journal| journal.find_node_and_attempt(key))
    }

    fn load_node_lineage(
        &self,
        run: RunId,
        node: NodeId,
        limits: LineageLimits,
    ) -> ReadFuture<'_, NodeLineage> {
        self.intercept_read(Some(run), move |journal| journal.load_node_lineage(run, node, limits))
    }

    fn find_pinned_definition(&self, hash: String) -> ReadFuture<'_, Option<String>> {
        self.intercept_read(None, move |journal| journal.find_pinned_definition(hash))
    }

    fn list_sessions(&self, access: Access, limit: usize) -> ReadFuture<'_, Vec<SessionRow>> {
        self.intercept_read(None, move |journal| journal.list_sessions(access, limit))
    }

    fn list_session_runs(&self, access: Access, session: SessionId) -> ReadFuture<'_, Vec<RunRow>> {
        self.intercept_read(None, move |journal| journal.list_session_runs(access, session))
    }

    // The following methods write, and are awaited like reads: a dead process does neither.
    fn remove_runs(&self, removal: RunRemoval) -> WriteFuture<'_> {
        self.intercept_write(move |journal| journal.remove_runs(removal))
    }

    fn append_all(&self, appends: Vec<Append>) -> WriteFuture<'_> {
        self.intercept_write(move |journal| journal.append_all(appends))
    }

    fn close_store(&self) -> PortFuture<'_, ()> {
        self.tap.before_close();
        self.journal.close_store()
    }
}

impl Leases for InterceptedJournal {
    fn acquire_or_renew_lease(
        &self,
        worker: WorkerId,
        lease: WorkerLease,
        now: Timestamp,
    ) -> WriteFuture<'_> {
        self.intercept_write(move |journal| journal.acquire_or_renew_lease(worker, lease, now))
    }

    fn release_lease(&self, worker: WorkerId) -> WriteFuture<'_> {
        self.intercept_write(move |journal| journal.release_lease(worker))
    }

    fn find_run_lease(&self, run: RunId) -> ReadFuture<'_, Option<RunLease>> {
        self.intercept_read(None, move |journal| journal.find_run_lease(run))
    }

    fn claim_abandoned_runs(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<ClaimedRun>> {
        self.intercept_read(None, move |journal| journal.claim_abandoned_runs(claim))
    }

    fn claim_unclaimed_errands(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.intercept_read(None, move |journal| journal.claim_unclaimed_errands(claim))
    }

    fn claim_due_timers(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<DueTimer>> {
        self.intercept_read(None, move |journal| journal.claim_due_timers(claim))
    }

    fn claim_due_hooks(&self, claim: WorkClaim, except: Vec<String>) -> ReadFuture<'_, Vec<DueHook>> {
        self.intercept_read(None, move |journal| journal.claim_due_hooks(claim, except))
    }
}
