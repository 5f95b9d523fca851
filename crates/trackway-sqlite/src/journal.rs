//! The journal: hands appends to the writer thread and reads to the pool.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::sync::oneshot;
use trackway_domain::{Access, Caller, NodeId, Position, RunId, Seq, SessionId, Timestamp};
use trackway_ports::{
    Append, AppendCallback, AppendError, AppendId, AppendReceipt, AttemptKey, FaultInjector, FeedCursor,
    FeedPage, Hook, Journal, LineageLimits, MessageClaim, MessageClaimKey, NoFaultInjection, NodeLineage,
    NodeWithAttempt, OutboxId, OutboxRow, PortFuture, ReadError, ReadFuture, RunFilter, RunPage, RunRemoval,
    RunRow, SessionRow, StatusTimeQuery, StoredEvent, StoredNode, StoredRun, WorkerId, WriteFuture,
};

use crate::{
    FolderBlobStore, OpenDatabaseError,
    database::{BUSY_WAIT, DatabaseFolder},
    migrate,
    read::{self, ReadSource},
    reader_pool::ReaderPool,
    wal_checkpoint,
    write_jobs::{EncodedAppend, MaintenanceRequest, WriteJob, WriteRequest},
    writer::{self, WriterThread},
};

/// The reason of failures after the writer has died.
const WRITER_DIED: &str = "its writer has died";

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Reached on the writer's thread: at `store:before-commit`, `store:after-commit` and
    /// `store:after-done`; for claims at `store:before-claim` and `store:after-claim`; for audit
    /// events at `store:before-audit` and `store:after-audit`; for artifacts that are saved or deleted at
    /// `store:before-artifact` and `store:after-artifact`; for removals at
    /// `store:before-sweep` and `store:after-sweep`. A panic there ends that thread without an answer to
    /// any caller, which simulates a crash.
    pub faults: Arc<dyn FaultInjector>,
    /// How long an append waits for another process that has the database locked.
    pub busy_wait: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { faults: Arc::new(NoFaultInjection), busy_wait: BUSY_WAIT }
    }
}

/// A journal in a folder. Several processes may open the same folder.
#[derive(Debug)]
pub struct SqliteJournal {
    /// The writer's inbox; `None` after the journal is closed. A plain mutex: it is locked for one send,
    /// and it ensures that no append follows the closing.
    inbox: Mutex<Option<Sender<WriteJob>>>,
    /// Why appends fail if there is no inbox.
    refusal: AppendError,
    /// Locked while the threads are joined, so that a second `close` waits for the first.
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
    readers: ReaderPool,
    blobs: FolderBlobStore,
    /// The worker with the exclusive lease.
    pub(crate) sole: Mutex<Option<WorkerId>>,
}

impl SqliteJournal {
    /// Opens the store in this folder and creates whatever is missing.
    pub fn open(folder: &Path) -> Result<Self, OpenDatabaseError> {
        Self::open_with_options(folder, SqliteOptions::default())
    }

    pub fn open_with_options(folder: &Path, options: SqliteOptions) -> Result<Self, OpenDatabaseError> {
        let database = DatabaseFolder::create_database_folder(folder, options.busy_wait)?;
        let blobs = FolderBlobStore::open_or_create_blob_folder(folder)
            .map_err(|source| OpenDatabaseError::Folder { folder: folder.to_owned(), source })?;
        let conn = database.open_writer_connection()?;
        database.warn_of_lost_commits(&conn);
        let (checkpoints, checkpointer) =
            wal_checkpoint::new_wal_checkpointer(database.open_checkpoint_connection()?);
        let writer = WriterThread { blobs: blobs.clone(), faults: options.faults, checkpoints };
        let (inbox, receiver) = writer::new_write_job_channel();
        let threads = vec![
            spawn_thread("trackway-writer", move || writer.run_writer_thread(conn, &receiver))?,
            spawn_thread("trackway-checkpoint", move || checkpointer.run_checkpoint_loop())?,
        ];
        Ok(Self {
            inbox: Mutex::new(Some(inbox)),
            refusal: AppendError::Closed,
            threads: Arc::new(Mutex::new(threads)),
            readers: ReaderPool::new(database),
            blobs,
            sole: Mutex::default(),
        })
    }

    /// Opens an existing store for reading, even while a server is running. Every append fails.
    pub fn open_read_only(folder: &Path) -> Result<Self, OpenDatabaseError> {
        let database = DatabaseFolder::open_existing_database_folder(folder)?;
        migrate::check_schema_version(&database.open_read_only_connection()?)?;
        Ok(Self {
            inbox: Mutex::new(None),
            refusal: AppendError::Broken { reason: "it was opened for reading only".to_owned() },
            threads: Arc::default(),
            readers: ReaderPool::new(database),
            blobs: FolderBlobStore::blobs_in_existing_folder(folder),
            sole: Mutex::default(),
        })
    }

    /// The blobs of the same folder.
    pub fn blob_store(&self) -> FolderBlobStore {
        self.blobs.clone()
    }

    fn enqueue_write_request(&self, work: WriteRequest, done: AppendCallback) {
        let job = WriteJob { work, done };
        let (job, refusal) = match &*self.lock_writer_inbox() {
            Some(inbox) => match inbox.send(job) {
                Ok(()) => return,
                Err(unsent) => (unsent.0, AppendError::Broken { reason: WRITER_DIED.to_owned() }),
            },
            None => (job, self.refusal.clone()),
        };
        (job.done)(Err(refusal));
    }

    /// Hands in work that is not an append, and waits for it.
    pub(crate) fn enqueue_maintenance_and_wait(&self, maintenance: MaintenanceRequest) -> WriteFuture<'_> {
        let (sender, receiver) = oneshot::channel();
        // The caller may have stopped waiting.
        let done: AppendCallback = Box::new(move |outcome| drop(sender.send(outcome.map(drop))));
        self.enqueue_write_request(WriteRequest::Maintenance(maintenance), done);
        Box::pin(async {
            receiver.await.unwrap_or_else(|_| Err(AppendError::Broken { reason: WRITER_DIED.to_owned() }))
        })
    }

    /// Reads on a separate thread.
    pub(crate) fn read_on_pool<T: Send + 'static>(
        &self,
        read: impl FnOnce(ReadSource<'_>) -> Result<T, ReadError> + Send + 'static,
    ) -> ReadFuture<'_, T> {
        let blobs = self.blob_store();
        Box::pin(self.readers.read_with_connection(move |conn| read(ReadSource { conn, blobs: &blobs })))
    }

    fn lock_writer_inbox(&self) -> MutexGuard<'_, Option<Sender<WriteJob>>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for SqliteJournal {
    fn append(&self, append: Append, done: AppendCallback) {
        self.enqueue_write_request(WriteRequest::encode_append_request(append), done);
    }

    fn append_all(&self, appends: Vec<Append>) -> WriteFuture<'_> {
        self.enqueue_maintenance_and_wait(MaintenanceRequest::AppendAll(
            appends.into_iter().map(EncodedAppend::new).collect(),
        ))
    }

    fn find_append_receipt(
        &self,
        run: RunId,
        expected: Seq,
        id: AppendId,
    ) -> ReadFuture<'_, Option<AppendReceipt>> {
        self.read_on_pool(move |from| read::find_receipt(from.conn, run, expected, id))
    }

    fn list_feed_events(&self, access: Access, after: FeedCursor, limit: usize) -> ReadFuture<'_, FeedPage> {
        self.read_on_pool(move |from| read::list_feed(from, &access, &after, limit))
    }

    fn list_events(&self, run: RunId, after: Seq, limit: usize) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.read_on_pool(move |from| read::list_events(from, run, after, limit))
    }

    fn load_stored_run(&self, run: RunId, limit: usize) -> ReadFuture<'_, StoredRun> {
        self.read_on_pool(move |from| read::load_stored_run(from, run, limit))
    }

    fn list_events_after_position(
        &self,
        run: RunId,
        after: Position,
        limit: usize,
    ) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.read_on_pool(move |from| read::list_events_after_position(from, run, after, limit))
    }

    fn list_newest_events(&self, run: RunId, limit: usize) -> ReadFuture<'_, Vec<StoredEvent>> {
        self.read_on_pool(move |from| read::list_newest_events(from, run, limit))
    }

    fn find_run(&self, run: RunId) -> ReadFuture<'_, Option<RunRow>> {
        self.read_on_pool(move |from| read::find_run(from.conn, run))
    }

    fn list_runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunRow>> {
        self.read_on_pool(move |from| read::list_runs(from.conn, &filter, before, limit))
    }

    fn list_runs_by_status_time(&self, query: StatusTimeQuery) -> ReadFuture<'_, RunPage> {
        self.read_on_pool(move |from| read::list_runs_by_status_time(from.conn, &query))
    }

    fn list_waiting_runs(
        &self,
        caller: Caller,
        session: SessionId,
        workflow: Option<String>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<RunId>> {
        self.read_on_pool(move |from| {
            read::list_waiting_runs(from.conn, &caller, &session, workflow.as_deref(), limit)
        })
    }

    fn find_message_claim(&self, key: MessageClaimKey) -> ReadFuture<'_, Option<MessageClaim>> {
        self.read_on_pool(move |from| read::find_message_claim(from.conn, key))
    }

    fn newest_event_time(&self) -> ReadFuture<'_, Option<Timestamp>> {
        self.read_on_pool(|from| read::newest_event_time(from.conn))
    }

    fn next_timer_due(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read_on_pool(move |from| read::next_timer_due(from.conn, now))
    }

    fn list_outbox(&self, after: Option<OutboxId>, limit: usize) -> ReadFuture<'_, Vec<OutboxRow>> {
        self.read_on_pool(move |from| read::list_outbox(from.conn, after, limit))
    }

    fn list_hooks(&self, run: RunId) -> ReadFuture<'_, Vec<Hook>> {
        self.read_on_pool(move |from| read::list_hooks(from.conn, run))
    }

    fn next_hook_due(&self, now: Timestamp) -> ReadFuture<'_, Option<Timestamp>> {
        self.read_on_pool(move |from| read::next_hook_due(from.conn, now))
    }

    fn find_node(&self, run: RunId, node: NodeId) -> ReadFuture<'_, Option<StoredNode>> {
        self.read_on_pool(move |from| read::find_node(from, run, node))
    }

    fn find_attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<StoredEvent>> {
        self.read_on_pool(move |from| read::find_attempt(from, &key))
    }

    fn find_node_and_attempt(&self, key: AttemptKey) -> ReadFuture<'_, Option<NodeWithAttempt>> {
        self.read_on_pool(move |from| read::find_node_and_attempt(from, &key))
    }

    fn load_node_lineage(
        &self,
        run: RunId,
        node: NodeId,
        limits: LineageLimits,
    ) -> ReadFuture<'_, NodeLineage> {
        self.read_on_pool(move |from| read::load_lineage(from, run, node, limits))
    }

    fn find_pinned_definition(&self, hash: String) -> ReadFuture<'_, Option<String>> {
        self.read_on_pool(move |from| read::find_definition(from.conn, &hash))
    }

    fn list_sessions(&self, access: Access, limit: usize) -> ReadFuture<'_, Vec<SessionRow>> {
        self.read_on_pool(move |from| read::list_sessions(from, &access, limit))
    }

    fn list_session_runs(&self, access: Access, session: SessionId) -> ReadFuture<'_, Vec<RunRow>> {
        self.read_on_pool(move |from| read::list_session_runs(from, &access, &session))
    }

    fn remove_runs(&self, removal: RunRemoval) -> WriteFuture<'_> {
        self.enqueue_maintenance_and_wait(MaintenanceRequest::Remove(removal))
    }

    fn close_store(&self) -> PortFuture<'_, ()> {
        // After its sender is dropped, the writer commits the waiting work and ends.
        drop(self.lock_writer_inbox().take());
        let threads = Arc::clone(&self.threads);
        let readers = self.readers.clone();
        Box::pin(async move {
            let joined = tokio::task::spawn_blocking(move || {
                // Readers keep the write-ahead log open, which the last checkpoint truncates.
                readers.close_idle_connections();
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

fn spawn_thread(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, OpenDatabaseError> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(OpenDatabaseError::Thread)
}
