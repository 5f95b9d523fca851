//! A journal and a blob store in memory, with what tests need beyond the port: reopening, and damage.
//! Deaths and paused commits are interceptors ([`crate::ProcessLifeInterceptor`],
//! [`crate::PausingInterceptor`]), for stores of any kind.

mod artifacts;
mod audit;
mod blobs;
mod contents;
mod guided_index;
mod hooks;
mod keys;
mod leases;

use std::{
    collections::VecDeque,
    future,
    sync::{Arc, Mutex, MutexGuard},
};

use trackway_domain::{Access, Caller, NodeId, Position, RunId, Seq, SessionId, Timestamp};
use trackway_ports::{
    Append, AppendCallback, AppendError, AppendId, AppendReceipt, AttemptKey, ClaimedRun, DueHook, DueTimer,
    FeedCursor, FeedPage, Hook, Journal, Leases, LineageLimits, MessageClaim, MessageClaimKey, NodeLineage,
    OutboxId, OutboxRow, PortFuture, ReadError, ReadFuture, RunFilter, RunLease, RunPage, RunRemoval, RunRow,
    SessionRow, StatusTimeQuery, StoredEvent, StoredNode, WorkClaim, WorkerId, WorkerLease, WriteFuture,
};

use self::contents::MemoryContents;
pub use self::{audit::MemoryAuditLog, blobs::MemoryBlobs, keys::MemoryKeys};
use crate::interceptors::lock_ignoring_poison;

/// A journal in memory. Clones are the same open journal, as in one process;
/// [`Self::reopen_as_next_process`] is what the next process opens.
///
/// An append is committed and answered before `append` returns, so that a test on one thread always
/// runs in the same order. Answers are given one at a time, without a lock: `done` may append.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    /// The committed contents; shared with every other opening of the same journal.
    contents: Arc<Mutex<MemoryContents>>,
    /// The state that dies with the process. Always locked before `contents`.
    process: Arc<Mutex<OpenProcess>>,
    /// The content of artifacts.
    blobs: MemoryBlobs,
}

#[derive(Default)]
struct OpenProcess {
    is_closed: bool,
    /// Committed or refused, not yet answered.
    answers: VecDeque<(AppendCallback, AppendOutcome)>,
    /// A thread is giving answers; others leave theirs to it, which keeps the order.
    is_answering: bool,
}

type AppendOutcome = Result<AppendReceipt, AppendError>;

impl std::fmt::Debug for OpenProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("is_closed", &self.is_closed).finish_non_exhaustive()
    }
}

impl MemoryJournal {
    pub fn new() -> Self {
        Self::default()
    }

    /// The same contents, opened by another process.
    pub fn reopen_as_next_process(&self) -> Self {
        Self { contents: Arc::clone(&self.contents), process: Arc::default(), blobs: self.blobs.clone() }
    }

    /// The blobs of the same store.
    pub fn blob_store(&self) -> MemoryBlobs {
        self.blobs.clone()
    }

    /// Makes this event unreadable, as a damaged disk would.
    pub fn damage_event(&self, run: RunId, seq: Seq) {
        self.lock_contents().damage_event(run, seq);
    }

    /// Gives the pending answers, unless another thread is doing it.
    fn deliver_answers(&self) {
        if std::mem::replace(&mut self.lock_process().is_answering, true) {
            return;
        }
        loop {
            let next = {
                let mut process = self.lock_process();
                let next = process.answers.pop_front();
                process.is_answering = next.is_some();
                next
            };
            match next {
                Some((done, outcome)) => done(outcome),
                None => return,
            }
        }
    }

    /// A claim reads and writes.
    fn run_claim<T: Send + 'static>(
        &self,
        claim: impl FnOnce(&mut MemoryContents) -> T + Send + 'static,
    ) -> ReadFuture<'_, T> {
        Box::pin(async move {
            if self.lock_process().is_closed {
                return Err(ReadError::Broken { reason: AppendError::Closed.to_string() });
            }
            Ok(claim(&mut self.lock_contents()))
        })
    }

    fn read_contents<T: Send + 'static>(
        &self,
        read: impl FnOnce(&MemoryContents) -> T + Send + 'static,
    ) -> PortFuture<'_, T> {
        Box::pin(async move { read(&self.lock_contents()) })
    }

    /// A write that is not a single append.
    fn write_contents(
        &self,
        write: impl FnOnce(&mut MemoryContents) -> Result<(), AppendError> + Send + 'static,
    ) -> WriteFuture<'_> {
        Box::pin(async move {
            if self.lock_process().is_closed {
                return Err(AppendError::Closed);
            }
            write(&mut self.lock_contents())
        })
    }

    fn lock_process(&self) -> MutexGuard<'_, OpenProcess> {
        lock_ignoring_poison(&self.process)
    }

    fn lock_contents(&self) -> MutexGuard<'_, MemoryContents> {
        lock_ignoring_poison(&self.contents)
    }
}

impl Journal for MemoryJournal {
    fn append(&self, append: Append, done: AppendCallback) {
        {
            let mut process = self.lock_process();
            let outcome = match process.is_closed {
                true => Err(AppendError::Closed),
                false => self.lock_contents().append(append),
            };
            process.answers.push_back((done, outcome));
        }
        self.deliver_answers();
    }

    fn append_all(&self, appends: Vec<Append>) -> WriteFuture<'_> {
        self.write_contents(move |contents| contents.append_all(appends))
    }

    fn find_append_receipt(
        &self,
        run: RunId,
        expected: Seq,
        id: AppendId,
    ) -> ReadFuture<'_, Option<AppendReceipt>> {
        self.read_contents(move |contents| Ok(contents.find_receipt(run, expected, id)))
    }

    fn list_feed_events(&self, access: Access, after: FeedCursor, limit: usize) -> ReadFuture<'_, FeedPage> {
        self.read_contents(move |contents| contents.list_feed(&access, &after, limit))
    }

    fn list_events(&self, run: RunId, after: Seq, limit: usize) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.read_contents(move |contents| contents.list_events(run, after, limit))
    }

    fn list_events_after_position(
        &self,
        run: RunId,
        after: Position,
        limit: usize,
    ) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.read_contents(move |contents| contents.list_events_after_position(run, after, limit))
    }

    fn list_newest_events(&self, run: RunId, limit: usize) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.read_contents(move |contents| Ok(contents.list_newest_events(run, limit)))
    }

    fn find_run(&self, run: RunId) -> ReadFuture<'_, Option<RunRow>> {
        self.read_contents(move |contents| Ok(contents.find_run(run)))
    }

    fn list_runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunRow>> {
        self.read_contents(move |contents| Ok(contents.list_runs(&filter, before, limit)))
    }

    fn list_runs_by_status_time(&self, query: StatusTimeQuery) -> ReadFuture<'_, RunPage> {
        self.read_contents(move |contents| Ok(contents.list_runs_by_status_time(&query)))
    }

    fn list_waiting_runs(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunId>> {
        self.read_contents(move |contents| {
            Ok(contents.list_waiting_runs(&caller, &session, workflow.as_deref(), limit))
        })
    }

    fn find_message_claim(&self, key: MessageClaimKey) -> ReadFuture<'_, Option<MessageClaim>> {
        self.read_contents(move |contents| Ok(contents.claims.get(&key).cloned()))
    }

    fn newest_event_time(&self) -> ReadFuture<'_, Option<Timestamp>> {
        self.read_contents(|contents| Ok(contents.newest_event_time()))
    }

    fn next_timer_due(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read_contents(move |contents| Ok(contents.next_timer_due(now)))
    }

    fn list_outbox(&self, after: Option<OutboxId>, limit: usize) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.read_contents(move |contents| Ok(contents.list_outbox(after, limit)))
    }

    fn list_hooks(&self, run: RunId) -> ReadFuture<'_, Vec<Hook>> {
        self.read_contents(move |contents| Ok(contents.hooks.hooks_of_run(run)))
    }

    fn next_hook_due(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read_contents(move |contents| Ok(contents.hooks.next_due(now)))
    }

    fn find_node(&self, run: RunId, node: NodeId) -> ReadFuture<'_, Option<StoredNode>> {
        self.read_contents(move |contents| contents.find_node(run, node))
    }

    fn find_attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<StoredEvent>> {
        self.read_contents(move |contents| contents.find_attempt(&key))
    }

    fn load_node_lineage(
        &self,
        run: RunId,
        node: NodeId,
        limits: LineageLimits,
    ) -> ReadFuture<'_, NodeLineage> {
        self.read_contents(move |contents| Ok(contents.load_lineage(run, node, limits)))
    }

    fn find_pinned_definition(&self, hash: String) -> ReadFuture<'_, Option<String>> {
        self.read_contents(move |contents| Ok(contents.index.find_definition(&hash)))
    }

    fn list_sessions(&self, access: Access, limit: usize) -> ReadFuture<'_, Vec<SessionRow>> {
        self.read_contents(move |contents| Ok(contents.list_sessions(&access, limit)))
    }

    fn list_session_runs(&self, access: Access, session: SessionId) -> ReadFuture<'_, Vec<RunRow>> {
        self.read_contents(move |contents| Ok(contents.list_session_runs(&access, &session)))
    }

    fn remove_runs(&self, removal: RunRemoval) -> WriteFuture<'_> {
        let blobs = self.blobs.clone();
        self.write_contents(move |contents| {
            artifacts::remove_unnamed_blobs(&blobs, contents, |contents| contents.remove_runs(&removal))
        })
    }

    fn close_store(&self) -> PortFuture<'_, ()> {
        self.lock_process().is_closed = true;
        Box::pin(future::ready(()))
    }
}

impl Leases for MemoryJournal {
    fn acquire_or_renew_lease(
        &self,
        worker: WorkerId,
        lease: WorkerLease,
        now: Timestamp,
    ) -> WriteFuture<'_> {
        self.write_contents(move |contents| {
            contents.workers.renew_lease(worker, lease, now);
            Ok(())
        })
    }

    fn release_lease(&self, worker: WorkerId) -> WriteFuture<'_> {
        self.write_contents(move |contents| {
            contents.workers.release_lease(worker);
            Ok(())
        })
    }

    fn find_run_lease(&self, run: RunId) -> ReadFuture<'_, Option<RunLease>> {
        self.read_contents(move |contents| Ok(contents.find_run_lease(run)))
    }

    fn claim_abandoned_runs(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<ClaimedRun>> {
        self.run_claim(move |contents| contents.claim_runs(claim))
    }

    fn claim_unclaimed_errands(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.run_claim(move |contents| contents.claim_errands(claim))
    }

    fn claim_due_timers(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<DueTimer>> {
        self.run_claim(move |contents| contents.claim_due_timers(claim))
    }

    fn claim_due_hooks(&self, claim: WorkClaim, except: Vec<String>) -> ReadFuture<'_, Vec<DueHook>> {
        self.run_claim(move |contents| contents.claim_due_hooks(claim, &except))
    }
}

#[cfg(test)]
mod tests;
