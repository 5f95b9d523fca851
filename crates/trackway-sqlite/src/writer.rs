//! The writer thread: the only one that writes. It blocks on its inbox, takes what waits, commits it in
//! one transaction, and answers everyone. What is not one append (removing runs, making an index anew,
//! appends that belong together) waits in the same inbox, has a transaction of its own, and fails alone
//! where it fails. There is no timer: a lone append is committed at once, and under load the appends that
//! arrive during one commit are the next batch.

mod guided;
mod heads;
mod hooks;
mod reindex;
mod removal;
mod statements;
mod upkeep;

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
};

use rusqlite::{Connection, config::DbConfig};
use trackway_ports::{AppendError, BlobHash, Faults, Receipt};

use crate::{
    FolderBlobs,
    checkpoint::Checkpoints,
    prepared::{Job, Prepared, Upkeep, Work},
};

use self::{heads::Heads, statements::Statements};

/// Appends in one transaction. Beyond this a larger batch saves nothing more per append, and the first
/// in it would wait longer for the last.
const BATCH_MAX: usize = 1_024;

/// What the writer works with beside its connection.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) blobs: FolderBlobs,
    pub(crate) faults: Arc<dyn Faults>,
    pub(crate) checkpoints: Checkpoints,
}

/// What one piece of work came to.
type Outcome = Result<Receipt, AppendError>;

/// The store cannot write any more; why.
#[derive(Debug, Clone)]
struct Stop(String);

pub(crate) fn inbox() -> (Sender<Job>, Receiver<Job>) {
    // Not bounded: the port leaves it to the callers how much they have under way.
    channel()
}

impl Writer {
    /// Serves the inbox until every sender is gone, or for as long as the store can write.
    pub(crate) fn run(self, conn: Connection, inbox: &Receiver<Job>) {
        let result = self.serve(&conn, inbox);
        if let Err(stop) = &result {
            tracing::error!(reason = stop.0, "the store has stopped writing");
            // The next start reads the log as it lies on the disk; nothing is moved before.
            let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        drop(conn);
        match result {
            Ok(()) => self.checkpoints.finish(),
            Err(stop) => {
                drop(self.checkpoints);
                for job in inbox {
                    answer(job, Err(stop.error()));
                }
            }
        }
    }

    fn serve(&self, conn: &Connection, inbox: &Receiver<Job>) -> Result<(), Stop> {
        let mut statements = match Statements::prepare(conn) {
            Ok(statements) => statements,
            Err(error) => return Err(Stop::because("preparing to write", &error)),
        };
        let mut heads = Heads::default();
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while let Ok(first) = inbox.recv() {
            batch.push(first);
            batch.extend(inbox.try_iter().take(BATCH_MAX - 1));
            while !batch.is_empty() {
                let first_alone = batch.iter().position(|job| !job.is_append());
                let together = first_alone.unwrap_or(batch.len()).max(1);
                match self.commit(conn, &mut statements, &mut heads, &batch[..together]) {
                    Ok(outcomes) => {
                        for (job, outcome) in batch.drain(..together).zip(outcomes) {
                            answer(job, outcome);
                        }
                        self.faults.reach("store:after-done");
                        self.wake_checkpoints(&mut statements);
                    }
                    Err(stop) => {
                        // Rolls back where the failed commit has not done so itself. The waiters are
                        // told in any case, and nobody writes after this.
                        let _ = statements.rollback();
                        for job in batch.drain(..) {
                            answer(job, Err(stop.error()));
                        }
                        return Err(stop);
                    }
                }
            }
        }
        Ok(())
    }

    /// Commits the batch: appends, or one piece of other work. An append that is refused writes nothing;
    /// the others are not touched by it. Any error ends the writer: after a failed sync nobody knows what
    /// the disk holds, and trying again could succeed without having written.
    fn commit(
        &self,
        conn: &Connection,
        statements: &mut Statements<'_>,
        heads: &mut Heads,
        batch: &[Job],
    ) -> Result<Vec<Outcome>, Stop> {
        for job in batch {
            self.write_blobs(&job.work)?;
        }
        let _turn = self.checkpoints.turn();
        statements.begin().map_err(writing)?;
        let mut appends = Vec::with_capacity(batch.len());
        for job in batch {
            self.keep_blobs(&job.work)?;
            match &job.work {
                Work::Append(append) => appends.push(append),
                Work::Upkeep(upkeep) => {
                    return self.keep_up(conn, statements, heads, upkeep).map(|it| vec![it]);
                }
            }
        }
        let mut write = || {
            heads.refresh(statements.data_version()?);
            let mut newest = statements.newest_pos()?;
            let outcomes = appends
                .iter()
                .map(|append| statements.write(append, heads, &mut newest))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(outcomes)
        };
        let outcomes = write().map_err(writing)?;
        self.faults.reach("store:before-commit");
        statements.commit().map_err(|error| Stop::because("committing", &error))?;
        self.faults.reach("store:after-commit");
        Ok(outcomes)
    }

    /// Before the write lock is taken, since files take their time.
    fn write_blobs(&self, work: &Work) -> Result<(), Stop> {
        for (hash, body) in blobs_of(work) {
            self.blobs.write(hash, body).map_err(|error| Stop::blob(hash, &error))?;
        }
        Ok(())
    }

    /// Under the write lock, under which blobs are removed: another process may have removed, since it
    /// was found or written, what nobody named yet.
    fn keep_blobs(&self, work: &Work) -> Result<(), Stop> {
        for (hash, body) in blobs_of(work) {
            if !self.blobs.has(hash) {
                self.blobs.write(hash, body).map_err(|error| Stop::blob(hash, &error))?;
            }
        }
        Ok(())
    }

    fn wake_checkpoints(&self, statements: &mut Statements<'_>) {
        // An error here loses nothing: the next commit asks again.
        if let Ok(frames) = statements.frames_to_move() {
            self.checkpoints.wake_for(frames);
        }
    }
}

impl Stop {
    fn because(doing: &str, error: &rusqlite::Error) -> Self {
        Self(format!("{doing}: {error}"))
    }

    fn blob(hash: BlobHash, error: &io::Error) -> Self {
        Self(format!("writing blob {hash}: {error}"))
    }

    fn error(&self) -> AppendError {
        AppendError::Broken { reason: self.0.clone() }
    }
}

/// The bodies of appends that lie in files.
fn blobs_of(work: &Work) -> impl Iterator<Item = (BlobHash, &[u8])> {
    let appends = match work {
        Work::Append(append) => std::slice::from_ref(&**append),
        Work::Upkeep(Upkeep::Together(appends)) => appends.as_slice(),
        Work::Upkeep(Upkeep::Remove(_) | Upkeep::Reindex(_)) => &[],
    };
    let records = appends.iter().flat_map(Prepared::with_starts).flat_map(|it| &it.records);
    records.filter_map(|record| Some((record.blob?, record.body.as_bytes())))
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
fn writing(error: rusqlite::Error) -> Stop {
    Stop::because("writing", &error)
}

fn answer(job: Job, outcome: Outcome) {
    // A panic in one caller's code must not take the store from the others. The panic itself has been
    // printed by the panic hook.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| (job.done)(outcome)));
}
