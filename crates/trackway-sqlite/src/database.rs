//! The folder and its database: where the files lie, and how each kind of connection is set up.

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
    private::{make_private_file, make_private_folder, tighten_file},
    wal::lost_commits,
};

/// How long a connection waits for another process to finish its transaction. Our own take
/// milliseconds. Whoever asked is told after this time to try again, before most clients lose patience.
///
/// Limit (Store): wait for another process that has the database locked.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(10);

/// How long opening pauses before it tries again to make a database write ahead.
const WAL_PAUSE: Duration = Duration::from_millis(10);

/// How long closing waits for readers of other processes before it leaves the write-ahead log as it is,
/// which costs nothing but a file that the next start reads.
/// Limit (Store): wait for other readers when the database closes.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// Page cache of the writer. It holds the ends of the tables and the index pages of the runs at work.
/// With 16 MiB a server with 10,000 waiting runs had 38 MB resident and was no faster; with this, 24 MB.
/// Limit (Store): page cache of the writer.
const WRITER_CACHE_KIB: i64 = 4 * 1024;

/// Page cache of one reader: replays read in order and gain little from a larger one.
/// Limit (Store): page cache of one reader.
const READER_CACHE_KIB: i64 = 1024;

/// A write-ahead log that grew beyond this, while a slow reader held it, is cut back when it starts
/// anew. Below it the file is kept, since writing over old blocks is cheaper than growing a file.
/// Limit (Store): write-ahead log that is kept when it starts again.
const WAL_BYTES_KEPT: i64 = 128 * 1024 * 1024;

/// Statements that a connection keeps prepared: more than there are different ones.
const STATEMENTS_KEPT: usize = 64;

/// Why a folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
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
pub(crate) struct Database {
    folder: PathBuf,
    busy_wait: Duration,
}

impl Database {
    /// Makes the folder where it is missing, and sees to it that it survives a power cut.
    pub(crate) fn create(folder: &Path, busy_wait: Duration) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Folder { folder: folder.to_owned(), source };
        make_private_folder(folder).map_err(failed)?;
        // The entry of a new folder lies in the folder above it.
        if let Ok(parent) = folder.join("..").canonicalize() {
            sync_folder(&parent).map_err(failed)?;
        }
        let database = Self { folder: folder.to_owned(), busy_wait };
        // SQLite gives the files beside the database the permissions of the database.
        make_private_file(&database.file()).map_err(failed)?;
        for beside in ["trackway.db-wal", "trackway.db-shm"] {
            tighten_file(&folder.join(beside));
        }
        Ok(database)
    }

    /// The store in an existing folder, for reading.
    pub(crate) fn existing(folder: &Path) -> Result<Self, OpenError> {
        let database = Self { folder: folder.to_owned(), busy_wait: BUSY_WAIT };
        if !database.file().is_file() {
            return Err(OpenError::Missing { folder: folder.to_owned() });
        }
        Ok(database)
    }

    fn file(&self) -> PathBuf {
        self.folder.join("trackway.db")
    }

    /// The writer's connection, to a database that is up to date.
    pub(crate) fn writer(&self) -> Result<Connection, OpenError> {
        let mut conn = self.writable(OpenFlags::SQLITE_OPEN_CREATE)?;
        conn.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
        // A page written to the log before the commit would be written again at it.
        conn.pragma_update(None, "cache_spill", false)?;
        conn.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT)?;
        migrate::migrate(&mut conn)?;
        checksum::teach(&conn)?;
        Ok(conn)
    }

    /// Says so where commits lie behind the end of the write-ahead log: SQLite itself says nothing.
    pub(crate) fn warn_of_lost_commits(&self, conn: &Connection) {
        let frames = || {
            let frames = conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1));
            frames.ok().and_then(|frames: i64| u64::try_from(frames).ok())
        };
        let whole = frames();
        let lost = whole.map(|whole| lost_commits(&self.folder.join("trackway.db-wal"), whole));
        // Where another process has written meanwhile, what was seen says nothing.
        if let Some(Ok(commits @ 1..)) = lost
            && frames() == whole
        {
            tracing::error!(
                commits,
                "the write-ahead log is damaged; commits behind the damage are lost"
            );
        }
    }

    /// The connection that moves the write-ahead log into the database.
    pub(crate) fn checkpointer(&self) -> Result<Connection, OpenError> {
        let conn = self.writable(OpenFlags::empty())?;
        conn.busy_timeout(CLOSE_WAIT)?;
        Ok(conn)
    }

    /// A connection that cannot write.
    pub(crate) fn reader(&self) -> Result<Connection, rusqlite::Error> {
        let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        conn.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
        Ok(conn)
    }

    fn writable(&self, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
        let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE | flags)?;
        use_wal(&conn)?;
        conn.pragma_update(None, "synchronous", "full")?;
        // On macOS a plain fsync leaves the data in the drive's own cache; elsewhere this does nothing.
        conn.pragma_update(None, "fullfsync", true)?;
        conn.pragma_update(None, "checkpoint_fullfsync", true)?;
        // Inside a commit a checkpoint makes everyone wait; the checkpoint thread does it beside them.
        conn.pragma_update(None, "wal_autocheckpoint", 0)?;
        Ok(conn)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn connect(&self, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
        // Each connection is used by one thread at a time, so SQLite need not lock it.
        let conn =
            Connection::open_with_flags(self.file(), flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        conn.busy_timeout(self.busy_wait)?;
        // Plans do not depend on the values of parameters. Otherwise a statement with `LIMIT ?` is planned
        // anew at each use, which costs more than the read itself.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(conn)
    }
}

/// Writes ahead from now on. On a database that does so already this changes nothing. On a new one it
/// needs the database for itself, and SQLite does not wait for that: so it is tried again for as long as
/// a connection waits for anything else.
fn use_wal(conn: &Connection) -> Result<(), rusqlite::Error> {
    let mut waited = Duration::ZERO;
    loop {
        match conn.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && waited < BUSY_WAIT =>
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

/// The folder as a file, to sync it. None on Windows, where a folder cannot be opened as a file and its
/// entries need no sync.
pub(crate) fn open_folder(folder: &Path) -> io::Result<Option<File>> {
    cfg!(unix).then(|| File::open(folder)).transpose()
}
