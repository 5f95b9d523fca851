//! A journal and a blob store in memory, with what tests need beyond the port: reopening, and damage.
//! Deaths and paused commits are interceptors ([`crate::Mortal`], [`crate::Gate`]), for stores of any
//! kind.

mod blobs;
mod contents;
mod guided;
mod hooks;
mod leases;

use std::{
    collections::VecDeque,
    future,
    sync::{Arc, Mutex, MutexGuard},
};

use trackway_domain::{Access, Caller, NodeId, Pos, RunId, Seq, SessionId, Timestamp};
use trackway_ports::{
    Append, AppendError, AppendId, AttemptKey, Claim, ClaimKey, ClaimedRun, Done, DueHook,
    DueTimer, FeedCursor, FeedPage, Hook, Journal, Lease, Leases, Lineage, LineageLimits,
    NodePlace, OutboxId, OutboxRow, PortFuture, ReadError, ReadFuture, Receipt, Removal, RunFilter,
    RunLease, RunPage, RunQuery, RunRow, SessionRow, Stored, WorkClaim, WorkerId, WriteFuture,
};

pub use self::blobs::MemoryBlobs;
use self::contents::Contents;
use crate::taps::locked;

/// A journal in memory. Clones are the same open journal, as in one process; [`Self::reopen`] is what
/// the next process opens.
///
/// An append is committed and answered before `append` returns, so that a test on one thread always
/// runs in the same order. Answers are given one at a time, without a lock: `done` may append.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    /// The committed contents; shared with every other opening of the same journal.
    contents: Arc<Mutex<Contents>>,
    /// The state that dies with the process. Always locked before `contents`.
    process: Arc<Mutex<Process>>,
}

#[derive(Default)]
struct Process {
    is_closed: bool,
    /// Committed or refused, not yet answered.
    answers: VecDeque<(Done, Outcome)>,
    /// A thread is giving answers; others leave theirs to it, which keeps the order.
    telling: bool,
}

type Outcome = Result<Receipt, AppendError>;

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("is_closed", &self.is_closed).finish_non_exhaustive()
    }
}

impl MemoryJournal {
    pub fn new() -> Self {
        Self::default()
    }

    /// The same contents, opened by another process.
    pub fn reopen(&self) -> Self {
        Self { contents: Arc::clone(&self.contents), process: Arc::default() }
    }

    /// Makes this event unreadable, as a damaged disk would.
    pub fn damage(&self, run: RunId, seq: Seq) {
        self.contents().damage(run, seq);
    }

    /// Gives the pending answers, unless another thread is doing it.
    fn tell(&self) {
        if std::mem::replace(&mut self.process().telling, true) {
            return;
        }
        loop {
            let next = {
                let mut process = self.process();
                let next = process.answers.pop_front();
                process.telling = next.is_some();
                next
            };
            match next {
                Some((done, outcome)) => done(outcome),
                None => return,
            }
        }
    }

    /// A claim reads and writes.
    fn claim_work<T: Send + 'static>(
        &self,
        claim: impl FnOnce(&mut Contents) -> T + Send + 'static,
    ) -> ReadFuture<'_, T> {
        Box::pin(async move {
            if self.process().is_closed {
                return Err(ReadError::Broken { reason: AppendError::Closed.to_string() });
            }
            Ok(claim(&mut self.contents()))
        })
    }

    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Contents) -> T + Send + 'static,
    ) -> PortFuture<'_, T> {
        Box::pin(async move { read(&self.contents()) })
    }

    /// A write that is not a single append.
    fn write(
        &self,
        write: impl FnOnce(&mut Contents) -> Result<(), AppendError> + Send + 'static,
    ) -> WriteFuture<'_> {
        Box::pin(async move {
            if self.process().is_closed {
                return Err(AppendError::Closed);
            }
            write(&mut self.contents())
        })
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        locked(&self.process)
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        locked(&self.contents)
    }
}

impl Journal for MemoryJournal {
    fn append(&self, append: Append, done: Done) {
        {
            let mut process = self.process();
            let outcome = match process.is_closed {
                true => Err(AppendError::Closed),
                false => self.contents().append(append),
            };
            process.answers.push_back((done, outcome));
        }
        self.tell();
    }

    fn append_all(&self, appends: Vec<Append>) -> WriteFuture<'_> {
        self.write(move |contents| contents.append_all(appends))
    }

    fn receipt(&self, run: RunId, expected: Seq, id: AppendId) -> ReadFuture<'_, Option<Receipt>> {
        self.read(move |contents| Ok(contents.receipt(run, expected, id)))
    }

    fn feed(&self, access: Access, after: FeedCursor, limit: usize) -> ReadFuture<'_, FeedPage> {
        self.read(move |contents| contents.feed(&access, &after, limit))
    }

    fn events(&self, run: RunId, after: Seq, limit: usize) -> ReadFuture<'_, Vec<Stored>> {
        self.read(move |contents| contents.events(run, after, limit))
    }

    fn events_after_pos(
        &self,
        run: RunId,
        after: Pos,
        limit: usize,
    ) -> ReadFuture<'_, Vec<Stored>> {
        self.read(move |contents| contents.events_after_pos(run, after, limit))
    }

    fn newest_events(&self, run: RunId, limit: usize) -> ReadFuture<'_, Vec<Stored>> {
        self.read(move |contents| Ok(contents.newest_events(run, limit)))
    }

    fn run(&self, run: RunId) -> ReadFuture<'_, Option<RunRow>> {
        self.read(move |contents| Ok(contents.run(run)))
    }

    fn runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunRow>> {
        self.read(move |contents| Ok(contents.runs(&filter, before, limit)))
    }

    fn runs_by_status(&self, query: RunQuery) -> ReadFuture<'_, RunPage> {
        self.read(move |contents| Ok(contents.runs_by_status(&query)))
    }

    fn waiting(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunId>> {
        self.read(move |contents| {
            Ok(contents.waiting(&caller, &session, workflow.as_deref(), limit))
        })
    }

    fn claim(&self, key: ClaimKey) -> ReadFuture<'_, Option<Claim>> {
        self.read(move |contents| Ok(contents.claims.get(&key).cloned()))
    }

    fn newest_time(&self) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(|contents| Ok(contents.newest_time()))
    }

    fn next_timer(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(move |contents| Ok(contents.next_timer(now)))
    }

    fn outbox(&self, after: Option<OutboxId>, limit: usize) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.read(move |contents| Ok(contents.outbox(after, limit)))
    }

    fn hooks(&self, run: RunId) -> ReadFuture<'_, Vec<Hook>> {
        self.read(move |contents| Ok(contents.hooks.of(run)))
    }

    fn next_hook(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(move |contents| Ok(contents.hooks.next(now)))
    }

    fn node(&self, run: RunId, node: NodeId) -> ReadFuture<'_, Option<NodePlace>> {
        self.read(move |contents| contents.node(run, node))
    }

    fn attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<Stored>> {
        self.read(move |contents| contents.attempt(&key))
    }

    fn lineage(&self, run: RunId, node: NodeId, limits: LineageLimits) -> ReadFuture<'_, Lineage> {
        self.read(move |contents| Ok(contents.lineage(run, node, limits)))
    }

    fn pinned(&self, hash: String) -> ReadFuture<'_, Option<String>> {
        self.read(move |contents| Ok(contents.index.pinned(&hash)))
    }

    fn sessions(&self, access: Access, limit: usize) -> ReadFuture<'_, Vec<SessionRow>> {
        self.read(move |contents| Ok(contents.sessions(&access, limit)))
    }

    fn session_runs(&self, access: Access, session: SessionId) -> ReadFuture<'_, Vec<RunRow>> {
        self.read(move |contents| Ok(contents.session_runs(&access, &session)))
    }

    fn remove(&self, removal: Removal) -> WriteFuture<'_> {
        self.write(move |contents| contents.remove(&removal))
    }

    fn close(&self) -> PortFuture<'_, ()> {
        self.process().is_closed = true;
        Box::pin(future::ready(()))
    }
}

impl Leases for MemoryJournal {
    fn hold(&self, worker: WorkerId, lease: Lease, now: Timestamp) -> WriteFuture<'_> {
        self.write(move |contents| {
            contents.workers.hold(worker, lease, now);
            Ok(())
        })
    }

    fn release(&self, worker: WorkerId) -> WriteFuture<'_> {
        self.write(move |contents| {
            contents.workers.release(worker);
            Ok(())
        })
    }

    fn run_lease(&self, run: RunId) -> ReadFuture<'_, Option<RunLease>> {
        self.read(move |contents| Ok(contents.run_lease(run)))
    }

    fn claim_runs(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<ClaimedRun>> {
        self.claim_work(move |contents| contents.claim_runs(claim))
    }

    fn claim_errands(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.claim_work(move |contents| contents.claim_errands(claim))
    }

    fn claim_timers(&self, claim: WorkClaim) -> ReadFuture<'_, Vec<DueTimer>> {
        self.claim_work(move |contents| contents.claim_timers(claim))
    }

    fn claim_hooks(&self, claim: WorkClaim, except: Vec<String>) -> ReadFuture<'_, Vec<DueHook>> {
        self.claim_work(move |contents| contents.claim_hooks(claim, &except))
    }
}

#[cfg(test)]
mod tests;
