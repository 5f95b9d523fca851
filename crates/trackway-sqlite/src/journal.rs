//! The journal: hands appends to the writer thread and reads to the pool.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::sync::oneshot;
use trackway_domain::{Access, Caller, NodeId, Pos, RunId, Seq, SessionId, Timestamp};
use trackway_ports::{
    Append, AppendError, AppendId, AskedPlace, AttemptKey, Claim, ClaimKey, Done, Faults,
    FeedCursor, FeedPage, Hook, Journal, Lineage, LineageLimits, NoFaults, NodePlace, OutboxId,
    OutboxRow, PortFuture, ReadError, ReadFuture, Receipt, Removal, RunFilter, RunPage, RunQuery,
    RunRow, SessionRow, Stored, StoredRun, WorkerId, WriteFuture,
};

use crate::{
    FolderBlobs, OpenError, checkpoint,
    database::{BUSY_WAIT, Database},
    migrate,
    prepared::{Job, Prepared, Upkeep, Work},
    read::{self, Source},
    readers::Readers,
    writer::{self, Writer},
};

/// The reason of failures after the writer has died.
const DIED: &str = "its writer has died";

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Reached on the writer's thread: at `store:before-commit`, `store:after-commit` and
    /// `store:after-done`; for claims at `store:before-claim` and `store:after-claim`; for removals at
    /// `store:before-sweep` and `store:after-sweep`. A panic there ends that thread without an answer to
    /// any caller, which simulates a crash.
    pub faults: Arc<dyn Faults>,
    /// How long an append waits for another process that has the database locked.
    pub busy_wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { faults: Arc::new(NoFaults), busy_wait: BUSY_WAIT }
    }
}

/// A journal in a folder. Several processes may open the same folder.
#[derive(Debug)]
pub struct SqliteJournal {
    /// The writer's inbox; `None` after the journal is closed. A plain mutex: it is locked for one send,
    /// and it ensures that no append follows the closing.
    inbox: Mutex<Option<Sender<Job>>>,
    /// Why appends fail if there is no inbox.
    refusal: AppendError,
    /// Locked while the threads are joined, so that a second `close` waits for the first.
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
    readers: Readers,
    blobs: FolderBlobs,
    /// The worker with the exclusive lease.
    pub(crate) sole: Mutex<Option<WorkerId>>,
}

impl SqliteJournal {
    /// Opens the store in this folder and creates whatever is missing.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        Self::open_with(folder, Options::default())
    }

    pub fn open_with(folder: &Path, options: Options) -> Result<Self, OpenError> {
        let database = Database::create(folder, options.busy_wait)?;
        let blobs = FolderBlobs::open(folder)
            .map_err(|source| OpenError::Folder { folder: folder.to_owned(), source })?;
        let conn = database.writer()?;
        database.warn_of_lost_commits(&conn);
        let (checkpoints, checkpointer) = checkpoint::pair(database.checkpointer()?);
        let writer = Writer { blobs: blobs.clone(), faults: options.faults, checkpoints };
        let (inbox, receiver) = writer::inbox();
        let threads = vec![
            start("trackway-writer", move || writer.run(conn, &receiver))?,
            start("trackway-checkpoint", move || checkpointer.run())?,
        ];
        Ok(Self {
            inbox: Mutex::new(Some(inbox)),
            refusal: AppendError::Closed,
            threads: Arc::new(Mutex::new(threads)),
            readers: Readers::new(database),
            blobs,
            sole: Mutex::default(),
        })
    }

    /// Opens an existing store for reading, even while a server is running. Every append fails.
    pub fn open_read_only(folder: &Path) -> Result<Self, OpenError> {
        let database = Database::existing(folder)?;
        migrate::check(&database.reader()?)?;
        Ok(Self {
            inbox: Mutex::new(None),
            refusal: AppendError::Broken { reason: "it was opened for reading only".to_owned() },
            threads: Arc::default(),
            readers: Readers::new(database),
            blobs: FolderBlobs::existing(folder),
            sole: Mutex::default(),
        })
    }

    /// The blobs of the same folder.
    pub fn blobs(&self) -> FolderBlobs {
        self.blobs.clone()
    }

    fn hand_in(&self, work: Work, done: Done) {
        let job = Job { work, done };
        let (job, refusal) = match &*self.inbox() {
            Some(inbox) => match inbox.send(job) {
                Ok(()) => return,
                Err(unsent) => (unsent.0, AppendError::Broken { reason: DIED.to_owned() }),
            },
            None => (job, self.refusal.clone()),
        };
        (job.done)(Err(refusal));
    }

    /// Hands in work that is not an append, and waits for it.
    pub(crate) fn wait_for(&self, upkeep: Upkeep) -> WriteFuture<'_> {
        let (sender, receiver) = oneshot::channel();
        // The caller may have stopped waiting.
        let done: Done = Box::new(move |outcome| drop(sender.send(outcome.map(drop))));
        self.hand_in(Work::Upkeep(upkeep), done);
        Box::pin(async {
            receiver.await.unwrap_or_else(|_| Err(AppendError::Broken { reason: DIED.to_owned() }))
        })
    }

    /// Reads on a separate thread.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(Source<'_>) -> Result<T, ReadError> + Send + 'static,
    ) -> ReadFuture<'_, T> {
        let blobs = self.blobs();
        Box::pin(self.readers.read(move |conn| read(Source { conn, blobs: &blobs })))
    }

    fn inbox(&self) -> MutexGuard<'_, Option<Sender<Job>>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for SqliteJournal {
    fn append(&self, append: Append, done: Done) {
        self.hand_in(Work::append(append), done);
    }

    fn append_all(&self, appends: Vec<Append>) -> WriteFuture<'_> {
        self.wait_for(Upkeep::Together(appends.into_iter().map(Prepared::new).collect()))
    }

    fn receipt(&self, run: RunId, expected: Seq, id: AppendId) -> ReadFuture<'_, Option<Receipt>> {
        self.read(move |from| read::receipt(from.conn, run, expected, id))
    }

    fn feed(&self, access: Access, after: FeedCursor, limit: usize) -> ReadFuture<'_, FeedPage> {
        self.read(move |from| read::feed(from, &access, &after, limit))
    }

    fn events(&self, run: RunId, after: Seq, limit: usize) -> ReadFuture<'_, Vec<Stored>> {
        self.read(move |from| read::events(from, run, after, limit))
    }

    fn stored_run(&self, run: RunId, limit: usize) -> ReadFuture<'_, StoredRun> {
        self.read(move |from| read::stored_run(from, run, limit))
    }

    fn events_after_pos(
        &self,
        run: RunId,
        after: Pos,
        limit: usize,
    ) -> ReadFuture<'_, Vec<Stored>> {
        self.read(move |from| read::events_after_pos(from, run, after, limit))
    }

    fn newest_events(&self, run: RunId, limit: usize) -> ReadFuture<'_, Vec<Stored>> {
        self.read(move |from| read::newest_events(from, run, limit))
    }

    fn run(&self, run: RunId) -> ReadFuture<'_, Option<RunRow>> {
        self.read(move |from| read::run(from.conn, run))
    }

    fn runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunRow>> {
        self.read(move |from| read::runs(from.conn, &filter, before, limit))
    }

    fn runs_by_status(&self, query: RunQuery) -> ReadFuture<'_, RunPage> {
        self.read(move |from| read::runs_by_status(from.conn, &query))
    }

    fn waiting(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunId>> {
        self.read(move |from| {
            read::waiting(from.conn, &caller, &session, workflow.as_deref(), limit)
        })
    }

    fn claim(&self, key: ClaimKey) -> ReadFuture<'_, Option<Claim>> {
        self.read(move |from| read::claim(from.conn, key))
    }

    fn newest_time(&self) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(|from| read::newest_time(from.conn))
    }

    fn next_timer(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(move |from| read::next_timer(from.conn, now))
    }

    fn outbox(&self, after: Option<OutboxId>, limit: usize) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.read(move |from| read::outbox(from.conn, after, limit))
    }

    fn hooks(&self, run: RunId) -> ReadFuture<'_, Vec<Hook>> {
        self.read(move |from| read::hooks(from.conn, run))
    }

    fn next_hook(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read(move |from| read::next_hook(from.conn, now))
    }

    fn node(&self, run: RunId, node: NodeId) -> ReadFuture<'_, Option<NodePlace>> {
        self.read(move |from| read::node(from, run, node))
    }

    fn attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<Stored>> {
        self.read(move |from| read::attempt(from, &key))
    }

    fn asked(&self, key: AttemptKey) -> ReadFuture<'_, Option<AskedPlace>> {
        self.read(move |from| read::asked(from, &key))
    }

    fn lineage(&self, run: RunId, node: NodeId, limits: LineageLimits) -> ReadFuture<'_, Lineage> {
        self.read(move |from| read::lineage(from, run, node, limits))
    }

    fn pinned(&self, hash: String) -> ReadFuture<'_, Option<String>> {
        self.read(move |from| read::pinned(from.conn, &hash))
    }

    fn sessions(&self, access: Access, limit: usize) -> ReadFuture<'_, Vec<SessionRow>> {
        self.read(move |from| read::sessions(from, &access, limit))
    }

    fn session_runs(&self, access: Access, session: SessionId) -> ReadFuture<'_, Vec<RunRow>> {
        self.read(move |from| read::session_runs(from, &access, &session))
    }

    fn remove(&self, removal: Removal) -> WriteFuture<'_> {
        self.wait_for(Upkeep::Remove(removal))
    }

    fn close(&self) -> PortFuture<'_, ()> {
        // After its sender is dropped, the writer commits the waiting work and ends.
        drop(self.inbox().take());
        let threads = Arc::clone(&self.threads);
        let readers = self.readers.clone();
        Box::pin(async move {
            let joined = tokio::task::spawn_blocking(move || {
                // Readers keep the write-ahead log open, which the last checkpoint truncates.
                readers.clear();
                let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
                threads.drain(..).for_each(|thread| {
                    // A thread that panicked has also ended.
                    let _ = thread.join();
                });
            });
            // Cancelled only when the async runtime itself shuts down.
            let _ = joined.await;
        })
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, OpenError> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(OpenError::Thread)
}
