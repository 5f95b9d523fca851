//! The checkpoint thread: moves what was committed from the write-ahead log into the database file,
//! beside the commits instead of inside them. It sleeps until the writer wakes it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    mpsc::{Receiver, SyncSender, sync_channel},
};

use rusqlite::{Connection, config::DbConfig};

/// Pages in the log at which a checkpoint begins (16 MiB). Many versions of a page that is written
/// often are moved as one, so fewer and larger checkpoints write less; the next start must read back
/// what was not moved, so they must not be too few.
const FRAMES_PER_CHECKPOINT: i64 = 4_096;

/// Pages in the log (32 MiB) at which the writer is made to pause. The log can start anew only at a
/// moment at which all of it has been moved, and a busy writer leaves no such moment by itself.
const FRAMES_LARGE: i64 = 8_192;

/// The writer's side of the checkpoint thread.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    orders: SyncSender<Order>,
    turns: Arc<Turns>,
}

/// The thread's own side.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    conn: Connection,
    orders: Receiver<Order>,
    turns: Arc<Turns>,
}

#[derive(Debug)]
enum Order {
    Move,
    /// Move everything, cut the log to nothing and end.
    Finish,
}

/// Keeps the writer and a checkpoint of a large log apart. Whoever waits for `work` holds `next`, so
/// the other cannot pass it over and over. Plain mutexes: both sides are threads that may block.
#[derive(Debug, Default)]
struct Turns {
    next: Mutex<()>,
    work: Mutex<()>,
}

impl Turns {
    fn take(&self) -> MutexGuard<'_, ()> {
        let _next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn pair(conn: Connection) -> (Checkpoints, Checkpointer) {
    // One order may wait: it will see everything that was committed before it is taken up.
    let (sender, receiver) = sync_channel(1);
    let turns = Arc::new(Turns::default());
    let checkpoints = Checkpoints { orders: sender, turns: Arc::clone(&turns) };
    let checkpointer = Checkpointer { conn, orders: receiver, turns };
    (checkpoints, checkpointer)
}

impl Checkpoints {
    /// Taken by the writer for one transaction.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turns.take()
    }

    pub(crate) fn wake_for(&self, frames: i64) {
        if frames >= FRAMES_PER_CHECKPOINT {
            // Full means that the thread has been woken already.
            let _ = self.orders.try_send(Order::Move);
        }
    }

    /// The writer has ended well. Where this is not called, because the writer has failed, everything
    /// stays as it lies on the disk.
    pub(crate) fn finish(self) {
        let _ = self.orders.send(Order::Finish);
    }
}

impl Checkpointer {
    pub(crate) fn run(self) {
        for order in &self.orders {
            match order {
                Order::Move => self.checkpoint(),
                Order::Finish => {
                    self.attempt("TRUNCATE");
                    return;
                }
            }
        }
        let _ = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    fn checkpoint(&self) {
        let frames = self.attempt("PASSIVE");
        if frames > FRAMES_LARGE {
            // The bulk was moved beside the writer; it waits only for what came in meanwhile. Then the
            // whole log has been moved and the next commit starts it anew.
            let _turn = self.turns.take();
            self.attempt("PASSIVE");
        }
    }

    /// Runs one checkpoint and returns the pages in the log. A failure loses nothing: what was not
    /// moved stays in the log and is copied whole by the next attempt.
    fn attempt(&self, mode: &str) -> i64 {
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
