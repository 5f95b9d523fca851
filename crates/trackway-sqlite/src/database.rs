//! The folder and its database: the paths of the files, and the setup of each kind of connection.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use crate::{
    checksum, migrate,
    private_files::{create_private_file, create_private_folder, restrict_file_permissions},
    wal_inspection::count_lost_commits,
};

/// How long a connection waits for the transaction of another process. Our own take milliseconds. After
/// this time the caller gets an error that says to try again, before most clients time out.
///
/// Limit (Store): wait for another process that has the database locked.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(10);

/// Pause before opening tries again to switch a database to the write-ahead log.
const WAL_PAUSE: Duration = Duration::from_millis(10);

/// How long closing waits for readers of other processes. After that it leaves the write-ahead log, which
/// only costs a file that the next start reads.
/// Limit (Store): wait for other readers when the database closes.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// Page cache of the writer. It holds the ends of the tables and the index pages of the active runs. With
/// 16 MiB a server with 10,000 waiting runs had 38 MB resident and was no faster; with this, 24 MB.
/// Limit (Store): page cache of the writer.
const WRITER_CACHE_KIB: i64 = 4 * 1024;

/// Page cache of one reader: replays read in order and gain little from a larger one.
/// Limit (Store): page cache of one reader.
const READER_CACHE_KIB: i64 = 1024;

/// If a slow reader makes the write-ahead log grow beyond this size, the file is truncated when the log
/// restarts. A smaller file is kept, because overwriting old blocks is cheaper than growing a file.
/// Limit (Store): write-ahead log that is kept when it starts again.
const WAL_BYTES_KEPT: i64 = 128 * 1024 * 1024;

/// Prepared statements that a connection keeps: more than there are different ones.
const STATEMENTS_KEPT: usize = 64;

/// Why a folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenDatabaseError {
    #[error("the folder {} cannot be prepared", folder.display())]
    Folder {
        folder: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("there is no Trackway database in {}", folder.display())]
    Missing { folder: PathBuf },
    #[error(
        "the database is of version {found}, this program knows {known}: it was written by a newer \
         Trackway, which must be used to open it"
    )]
    Newer { found: u32, known: u32 },
    #[error(
        "the database is of version {found}, this program reads {known}: start the server once to \
         bring it up to date"
    )]
    Older { found: u32, known: u32 },
    #[error("the database cannot be opened")]
    Database(#[from] rusqlite::Error),
    #[error("a thread of the store could not be started")]
    Thread(#[source] io::Error),
}

/// The paths of one store.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseFolder {
    folder: PathBuf,
    busy_wait: Duration,
}

impl DatabaseFolder {
    /// Creates the folder if it is missing, and makes it durable.
    pub(crate) fn create_database_folder(
        folder: &Path,
        busy_wait: Duration,
    ) -> Result<Self, OpenDatabaseError> {
        let failed = |source| OpenDatabaseError::Folder { folder: folder.to_owned(), source };
        create_private_folder(folder).map_err(failed)?;
        // The entry of a new folder is stored in its parent folder.
        if let Ok(parent) = folder.join("..").canonicalize() {
            sync_folder(&parent).map_err(failed)?;
        }
        let database = Self { folder: folder.to_owned(), busy_wait };
        // SQLite gives its additional files the permissions of the database.
        create_private_file(&database.database_path()).map_err(failed)?;
        for beside in ["trackway.db-wal", "trackway.db-shm"] {
            restrict_file_permissions(&folder.join(beside));
        }
        Ok(database)
    }

    /// The store in an existing folder, for reading.
    pub(crate) fn open_existing_database_folder(folder: &Path) -> Result<Self, OpenDatabaseError> {
        let database = Self { folder: folder.to_owned(), busy_wait: BUSY_WAIT };
        if !database.database_path().is_file() {
            return Err(OpenDatabaseError::Missing { folder: folder.to_owned() });
        }
        Ok(database)
    }

    fn database_path(&self) -> PathBuf {
        self.folder.join("trackway.db")
    }

    /// The writer's connection. The database is migrated to the current version.
    pub(crate) fn open_writer_connection(&self) -> Result<Connection, OpenDatabaseError> {
        let mut conn = self.open_writable_connection(OpenFlags::SQLITE_OPEN_CREATE)?;
        conn.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
        // A page that is written to the log before the commit would be written again at the commit.
        conn.pragma_update(None, "cache_spill", false)?;
        conn.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT)?;
        migrate::migrate_schema(&mut conn)?;
        checksum::register_run_checksum_function(&conn)?;
        Ok(conn)
    }

    /// Logs an error if there are commits after the readable end of the write-ahead log: SQLite reports
    /// nothing.
    pub(crate) fn warn_of_lost_commits(&self, conn: &Connection) {
        let frames = || {
            let frames = conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1));
            frames.ok().and_then(|frames: i64| u64::try_from(frames).ok())
        };
        let whole = frames();
        let lost = whole.map(|whole| count_lost_commits(&self.folder.join("trackway.db-wal"), whole));
        // If another process has written meanwhile, the result says nothing.
        if let Some(Ok(commits @ 1..)) = lost
            && frames() == whole
        {
            tracing::error!(commits, "the write-ahead log is damaged; commits after the damage are lost");
        }
    }

    /// The connection that moves the write-ahead log into the database.
    pub(crate) fn open_checkpoint_connection(&self) -> Result<Connection, OpenDatabaseError> {
        let conn = self.open_writable_connection(OpenFlags::empty())?;
        conn.busy_timeout(CLOSE_WAIT)?;
        Ok(conn)
    }

    /// A connection that cannot write.
    pub(crate) fn open_read_only_connection(&self) -> Result<Connection, rusqlite::Error> {
        let conn = self.open_connection(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        conn.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
        Ok(conn)
    }

    fn open_writable_connection(&self, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
        let conn = self.open_connection(OpenFlags::SQLITE_OPEN_READ_WRITE | flags)?;
        enable_wal(&conn)?;
        conn.pragma_update(None, "synchronous", "full")?;
        // On macOS a plain fsync leaves the data in the cache of the drive; on other systems this does
        // nothing.
        conn.pragma_update(None, "fullfsync", true)?;
        conn.pragma_update(None, "checkpoint_fullfsync", true)?;
        // A checkpoint inside a commit makes every caller wait; the checkpoint thread runs it in parallel.
        conn.pragma_update(None, "wal_autocheckpoint", 0)?;
        Ok(conn)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn open_connection(&self, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
        // Each connection is used by one thread at a time, so SQLite does not need to lock it.
        let conn =
            Connection::open_with_flags(self.database_path(), flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        conn.busy_timeout(self.busy_wait)?;
        // Query plans do not depend on the values of parameters. Otherwise SQLite plans a statement with
        // `LIMIT ?` again at each use, which costs more than the read itself.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(conn)
    }
}

/// Switches to the write-ahead log. On a database that already uses it, this changes nothing. On a new one
/// it needs exclusive access, and SQLite does not wait for that, so it is tried again for as long as a
/// connection waits for other locks.
fn enable_wal(conn: &Connection) -> Result<(), rusqlite::Error> {
    let mut waited = Duration::ZERO;
    loop {
        match conn.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < BUSY_WAIT =>
            {
                thread::sleep(WAL_PAUSE);
                waited += WAL_PAUSE;
            }
            result => return result,
        }
    }
}

/// Makes the entries of a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    match open_folder(folder)? {
        Some(folder) => folder.sync_all(),
        None => Ok(()),
    }
}

/// The folder as a file, to sync it. `None` on Windows, where a folder cannot be opened as a file and its
/// entries need no sync.
pub(crate) fn open_folder(folder: &Path) -> io::Result<Option<File>> {
    cfg!(unix).then(|| File::open(folder)).transpose()
}
