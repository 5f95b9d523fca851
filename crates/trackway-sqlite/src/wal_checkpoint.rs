//! The checkpoint thread: moves committed pages from the write-ahead log into the database file, in
//! parallel to the commits and not inside them. It sleeps until the writer wakes it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    mpsc::{Receiver, SyncSender, sync_channel},
};

use rusqlite::{Connection, config::DbConfig};

/// Pages in the log at which a checkpoint starts (16 MiB). Many versions of a frequently written page
/// are moved as one, so fewer and larger checkpoints write less. The next start must read back the
/// rest of the log, so checkpoints must not be too rare.
const FRAMES_PER_CHECKPOINT: i64 = 4_096;

/// Pages in the log (32 MiB) at which the writer must pause. The log can restart only at a moment at
/// which all of it has been moved, and a busy writer leaves no such moment.
const FRAMES_LARGE: i64 = 8_192;

/// The writer's side of the checkpoint thread.
#[derive(Debug)]
pub(crate) struct WalCheckpointHandle {
    orders: SyncSender<WalCheckpointCommand>,
    turns: Arc<FairLock>,
}

/// The thread's own side.
#[derive(Debug)]
pub(crate) struct WalCheckpointer {
    conn: Connection,
    orders: Receiver<WalCheckpointCommand>,
    turns: Arc<FairLock>,
}

#[derive(Debug)]
enum WalCheckpointCommand {
    Move,
    /// Move everything, truncate the log and end.
    Finish,
}

/// Keeps the writer and a checkpoint of a large log apart. The thread that waits for `work` holds
/// `next`, so the other thread cannot overtake it repeatedly. Plain mutexes: both sides are threads
/// that may block.
#[derive(Debug, Default)]
struct FairLock {
    next: Mutex<()>,
    work: Mutex<()>,
}

impl FairLock {
    fn lock_fairly(&self) -> MutexGuard<'_, ()> {
        let _next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn new_wal_checkpointer(conn: Connection) -> (WalCheckpointHandle, WalCheckpointer) {
    // One waiting order is enough: it will include everything that was committed before it starts.
    let (sender, receiver) = sync_channel(1);
    let turns = Arc::new(FairLock::default());
    let checkpoints = WalCheckpointHandle { orders: sender, turns: Arc::clone(&turns) };
    let checkpointer = WalCheckpointer { conn, orders: receiver, turns };
    (checkpoints, checkpointer)
}

impl WalCheckpointHandle {
    /// The writer holds it for one transaction.
    pub(crate) fn lock_for_write_transaction(&self) -> MutexGuard<'_, ()> {
        self.turns.lock_fairly()
    }

    pub(crate) fn wake_checkpointer_if_due(&self, frames: i64) {
        if frames >= FRAMES_PER_CHECKPOINT {
            // A full channel means that the thread is already awake.
            let _ = self.orders.try_send(WalCheckpointCommand::Move);
        }
    }

    /// The writer ended without an error. After a failure of the writer this is not called, and the
    /// files on the disk stay unchanged.
    pub(crate) fn request_final_wal_truncation(self) {
        let _ = self.orders.send(WalCheckpointCommand::Finish);
    }
}

impl WalCheckpointer {
    pub(crate) fn run_checkpoint_loop(self) {
        for order in &self.orders {
            match order {
                WalCheckpointCommand::Move => self.move_wal_into_database(),
                WalCheckpointCommand::Finish => {
                    self.run_checkpoint("TRUNCATE");
                    return;
                }
            }
        }
        let _ = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    fn move_wal_into_database(&self) {
        let frames = self.run_checkpoint("PASSIVE");
        if frames > FRAMES_LARGE {
            // Most pages were moved while the writer was running; it waits only for the rest. After
            // that the whole log has been moved, and the next commit restarts it.
            let _turn = self.turns.lock_fairly();
            self.run_checkpoint("PASSIVE");
        }
    }

    /// Runs one checkpoint and returns the pages in the log. A failure loses nothing: the rest stays
    /// in the log, and the next attempt copies all of it.
    fn run_checkpoint(&self, mode: &str) -> i64 {
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        let result = self
            .conn
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row([], |row| row.get(1)));
        result.unwrap_or_else(|error| {
            tracing::error!(%error, mode, "checkpoint failed");
            0
        })
    }
}
