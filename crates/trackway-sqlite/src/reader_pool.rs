//! The connections that read: a small pool, each used by one read at a time.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::Semaphore,
};
use trackway_ports::ReadError;

use crate::{database::DatabaseFolder, sqlite_error::to_read_error};

/// Concurrent reads. They are short and mostly answered from memory, so more than a few per core
/// would only cost memory; further reads wait.
/// Limit (Store): reads at once.
const READERS_MAX: usize = 8;

/// A pool of read connections. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ReaderPool {
    database: Arc<DatabaseFolder>,
    /// One permit per active read.
    turns: Arc<Semaphore>,
    /// Idle connections. A plain mutex: it is locked only to push or pop.
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl ReaderPool {
    pub(crate) fn new(database: DatabaseFolder) -> Self {
        Self {
            database: Arc::new(database),
            turns: Arc::new(Semaphore::new(READERS_MAX)),
            idle: Arc::default(),
        }
    }

    /// Runs `read` with a connection, away from the async threads. A process that has one thread for
    /// everything reads on that: it serves one client, and handing a short read over and back takes longer
    /// than the read.
    pub(crate) async fn read_with_connection<T, F>(&self, read: F) -> Result<T, ReadError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(broken_store_read_error)?;
        let readers = self.clone();
        let work = move || {
            // Moved in, so that a caller who stops waiting does not free the turn too early.
            let _turn = turn;
            let idle = readers.lock_idle_connections().pop();
            let conn = match idle {
                Some(conn) => conn,
                None => readers.database.open_read_only_connection().map_err(to_read_error)?,
            };
            let result = read(&conn);
            // A connection that had an error is not used again.
            if !matches!(result, Err(ReadError::Broken { .. } | ReadError::Unavailable { .. })) {
                readers.lock_idle_connections().push(conn);
            }
            result
        };
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::CurrentThread => work(),
            _ => run_blocking_read(work).await,
        }
    }

    /// Closes the idle connections. Later reads open new ones.
    pub(crate) fn close_idle_connections(&self) {
        self.lock_idle_connections().clear();
    }

    fn lock_idle_connections(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs blocking work on a thread where blocking is allowed.
pub(crate) async fn run_blocking_read<T, F>(work: F) -> Result<T, ReadError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, ReadError> + Send + 'static,
{
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(broken_store_read_error(error)))
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
pub(crate) fn broken_store_read_error(error: impl ToString) -> ReadError {
    ReadError::Broken { reason: error.to_string() }
}
