//! A journal and a blob store in memory, with what tests need beyond the port: dying, coming back,
//! withholding commits, damage.

mod blobs;
mod contents;
mod guided;
mod hooks;
mod leases;

use std::{
    collections::VecDeque,
    future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trackway_domain::{Access, Caller, NodeId, Pos, RunId, Seq, SessionId, Timestamp};
use trackway_ports::{
    Append, AppendError, AppendId, AttemptKey, Claim, ClaimKey, ClaimedRun, Done, DueHook,
    DueTimer, FeedCursor, FeedPage, Hook, Journal, Lease, Leases, Lineage, LineageLimits,
    NodePlace, OutboxId, OutboxRow, PortFuture, ReadError, Receipt, Removal, RunFilter, RunLease,
    RunPage, RunQuery, RunRow, SessionRow, Stored, WorkClaim, WorkerId,
};

pub use self::blobs::MemoryBlobs;
use self::contents::Contents;

/// A journal in memory. Clones are the same open journal, as one process has it; [`Self::reopen`] is
/// what the next process opens.
///
/// An append is committed and answered before `append` returns, so that a test on one thread always
/// runs in the same order. Answers are given one at a time, without a lock held: `done` may append.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    /// What has been committed; shared with every other opening of the same journal.
    contents: Arc<Mutex<Contents>>,
    /// What dies with the process. Always locked before `contents`.
    process: Arc<Mutex<Process>>,
}

#[derive(Default)]
struct Process {
    life: Life,
    /// Appends withheld by `hold`.
    waiting: Vec<(Append, Done)>,
    /// Committed or refused, not yet told.
    answers: VecDeque<(Done, Outcome)>,
    /// Somebody is giving answers; others leave theirs to them, which keeps the order.
    telling: bool,
    /// Callers that are never answered. They are kept, since dropping one would be an answer too.
    buried: Vec<Done>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Life {
    #[default]
    Open,
    Held,
    Closed,
    Killed,
}

type Outcome = Result<Receipt, AppendError>;

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("life", &self.life).finish_non_exhaustive()
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

    /// The process dies: from now on nothing that is handed in is committed, nobody is answered, and no
    /// read returns. What was committed stays for [`Self::reopen`].
    pub fn kill(&self) {
        let mut process = self.process();
        process.life = Life::Killed;
        let unanswered = std::mem::take(&mut process.answers);
        let withheld = std::mem::take(&mut process.waiting);
        let callers = unanswered.into_iter().map(|(done, _)| done);
        process.buried.extend(callers.chain(withheld.into_iter().map(|(_, done)| done)));
    }

    /// Withholds commits: appends wait until [`Self::release`].
    pub fn hold(&self) {
        let mut process = self.process();
        if process.life == Life::Open {
            process.life = Life::Held;
        }
    }

    /// Commits what was withheld, and goes on as usual.
    pub fn release(&self) {
        {
            let mut process = self.process();
            if process.life != Life::Held {
                return;
            }
            process.life = Life::Open;
            for (append, done) in std::mem::take(&mut process.waiting) {
                self.commit(&mut process, append, done);
            }
        }
        self.tell();
    }

    /// Makes this event unreadable, as a damaged disk would.
    pub fn damage(&self, run: RunId, seq: Seq) {
        self.contents().damage(run, seq);
    }

    fn commit(&self, process: &mut Process, append: Append, done: Done) {
        let outcome = self.contents().append(append);
        process.answers.push_back((done, outcome));
    }

    /// Gives the answers that are due, unless somebody else is at it.
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
    ) -> PortFuture<'_, Result<T, ReadError>> {
        Box::pin(async move {
            match self.process().life {
                Life::Killed => {}
                Life::Closed => return Err(ReadError::Broken { reason: closed().to_string() }),
                Life::Open | Life::Held => return Ok(claim(&mut self.contents())),
            }
            future::pending().await
        })
    }

    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Contents) -> T + Send + 'static,
    ) -> PortFuture<'_, T> {
        Box::pin(async move {
            if self.process().life == Life::Killed {
                return future::pending().await;
            }
            read(&self.contents())
        })
    }

    /// A write that is not one append. It is not withheld by `hold`.
    fn write(
        &self,
        write: impl FnOnce(&mut Contents) -> Result<(), AppendError> + Send + 'static,
    ) -> PortFuture<'_, Result<(), AppendError>> {
        Box::pin(async move {
            let life = self.process().life;
            match life {
                Life::Killed => future::pending().await,
                Life::Closed => Err(closed()),
                Life::Open | Life::Held => write(&mut self.contents()),
            }
        })
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    fn append(&self, append: Append, done: Done) {
        {
            let mut process = self.process();
            match process.life {
                Life::Open => self.commit(&mut process, append, done),
                Life::Held => process.waiting.push((append, done)),
                Life::Killed => process.buried.push(done),
                Life::Closed => {
                    process.answers.push_back((done, Err(closed())));
                }
            }
        }
        self.tell();
    }

    fn append_all(&self, appends: Vec<Append>) -> PortFuture<'_, Result<(), AppendError>> {
        self.write(move |contents| contents.append_all(appends))
    }

    fn receipt(
        &self,
        run: RunId,
        expected: Seq,
        id: AppendId,
    ) -> PortFuture<'_, Result<Option<Receipt>, ReadError>> {
        self.read(move |contents| Ok(contents.receipt(run, expected, id)))
    }

    fn feed(
        &self,
        access: Access,
        after: FeedCursor,
        limit: usize,
    ) -> PortFuture<'_, Result<FeedPage, ReadError>> {
        self.read(move |contents| contents.feed(&access, &after, limit))
    }

    fn events(
        &self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<Stored>, ReadError>> {
        self.read(move |contents| contents.events(run, after, limit))
    }

    fn events_after_pos(
        &self,
        run: RunId,
        after: Pos,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<Stored>, ReadError>> {
        self.read(move |contents| contents.events_after_pos(run, after, limit))
    }

    fn newest_events(
        &self,
        run: RunId,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<Stored>, ReadError>> {
        self.read(move |contents| Ok(contents.newest_events(run, limit)))
    }

    fn run(&self, run: RunId) -> PortFuture<'_, Result<Option<RunRow>, ReadError>> {
        self.read(move |contents| Ok(contents.run(run)))
    }

    fn runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<RunRow>, ReadError>> {
        self.read(move |contents| Ok(contents.runs(&filter, before, limit)))
    }

    fn runs_by_status(&self, query: RunQuery) -> PortFuture<'_, Result<RunPage, ReadError>> {
        self.read(move |contents| Ok(contents.runs_by_status(&query)))
    }

    fn waiting(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<RunId>, ReadError>> {
        self.read(move |contents| {
            Ok(contents.waiting(&caller, &session, workflow.as_deref(), limit))
        })
    }

    fn claim(&self, key: ClaimKey) -> PortFuture<'_, Result<Option<Claim>, ReadError>> {
        self.read(move |contents| Ok(contents.claim(&key)))
    }

    fn runnable(
        &self,
        after: Option<RunId>,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<RunId>, ReadError>> {
        self.read(move |contents| Ok(contents.runnable(after, limit)))
    }

    fn newest_time(&self) -> PortFuture<'_, Result<Option<Timestamp>, ReadError>> {
        self.read(|contents| Ok(contents.newest_time()))
    }

    fn next_timer(&self, now: Timestamp) -> PortFuture<'_, Result<Option<Timestamp>, ReadError>> {
        self.read(move |contents| Ok(contents.next_timer(now)))
    }

    fn outbox(
        &self,
        after: Option<OutboxId>,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<OutboxRow>, ReadError>> {
        self.read(move |contents| Ok(contents.outbox(after, limit)))
    }

    fn hook(&self, run: RunId, id: String) -> PortFuture<'_, Result<Option<Hook>, ReadError>> {
        self.read(move |contents| Ok(contents.hooks.get(run, &id)))
    }

    fn hooks(&self, run: RunId) -> PortFuture<'_, Result<Vec<Hook>, ReadError>> {
        self.read(move |contents| Ok(contents.hooks.of(run)))
    }

    fn next_hook(&self, now: Timestamp) -> PortFuture<'_, Result<Option<Timestamp>, ReadError>> {
        self.read(move |contents| Ok(contents.hooks.next(now)))
    }

    fn node(
        &self,
        run: RunId,
        node: NodeId,
    ) -> PortFuture<'_, Result<Option<NodePlace>, ReadError>> {
        self.read(move |contents| contents.node(run, node))
    }

    fn attempt(&self, key: AttemptKey) -> PortFuture<'_, Result<Option<Stored>, ReadError>> {
        self.read(move |contents| contents.attempt(&key))
    }

    fn lineage(
        &self,
        run: RunId,
        node: NodeId,
        limits: LineageLimits,
    ) -> PortFuture<'_, Result<Lineage, ReadError>> {
        self.read(move |contents| Ok(contents.lineage(run, node, limits)))
    }

    fn pinned(&self, hash: String) -> PortFuture<'_, Result<Option<String>, ReadError>> {
        self.read(move |contents| Ok(contents.index.pinned(&hash)))
    }

    fn sessions(
        &self,
        access: Access,
        limit: usize,
    ) -> PortFuture<'_, Result<Vec<SessionRow>, ReadError>> {
        self.read(move |contents| Ok(contents.sessions(&access, limit)))
    }

    fn session_runs(
        &self,
        access: Access,
        session: SessionId,
    ) -> PortFuture<'_, Result<Vec<RunRow>, ReadError>> {
        self.read(move |contents| Ok(contents.session_runs(&access, &session)))
    }

    fn remove(&self, removal: Removal) -> PortFuture<'_, Result<(), AppendError>> {
        self.write(move |contents| contents.remove(&removal))
    }

    fn reindex(&self, run: RunId) -> PortFuture<'_, Result<(), AppendError>> {
        self.write(move |contents| {
            contents.reindex(run);
            Ok(())
        })
    }

    /// A killed journal has nothing to close, and says so at once.
    fn close(&self) -> PortFuture<'_, ()> {
        self.release();
        {
            let mut process = self.process();
            if process.life != Life::Killed {
                process.life = Life::Closed;
            }
        }
        Box::pin(future::ready(()))
    }
}

impl Leases for MemoryJournal {
    fn hold(
        &self,
        worker: WorkerId,
        lease: Lease,
        now: Timestamp,
    ) -> PortFuture<'_, Result<(), AppendError>> {
        self.write(move |contents| {
            contents.workers.hold(worker, lease, now);
            Ok(())
        })
    }

    fn release(&self, worker: WorkerId) -> PortFuture<'_, Result<(), AppendError>> {
        self.write(move |contents| {
            contents.workers.release(worker);
            Ok(())
        })
    }

    fn run_lease(&self, run: RunId) -> PortFuture<'_, Result<Option<RunLease>, ReadError>> {
        self.read(move |contents| Ok(contents.run_lease(run)))
    }

    fn claim_runs(&self, claim: WorkClaim) -> PortFuture<'_, Result<Vec<ClaimedRun>, ReadError>> {
        self.claim_work(move |contents| contents.claim_runs(claim))
    }

    fn claim_errands(&self, claim: WorkClaim) -> PortFuture<'_, Result<Vec<OutboxRow>, ReadError>> {
        self.claim_work(move |contents| contents.claim_errands(claim))
    }

    fn claim_timers(&self, claim: WorkClaim) -> PortFuture<'_, Result<Vec<DueTimer>, ReadError>> {
        self.claim_work(move |contents| contents.claim_timers(claim))
    }

    fn claim_hooks(
        &self,
        claim: WorkClaim,
        except: Vec<String>,
    ) -> PortFuture<'_, Result<Vec<DueHook>, ReadError>> {
        self.claim_work(move |contents| contents.claim_hooks(claim, &except))
    }
}

fn closed() -> AppendError {
    AppendError::Closed
}

#[cfg(test)]
mod tests;
