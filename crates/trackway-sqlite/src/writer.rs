//! The writer thread: the only one that writes. It blocks on its inbox, takes what waits, commits it in
//! one transaction, and answers everyone. There is no timer: a lone append is committed at once, and
//! under load the appends that arrive during one commit are the next batch.

mod heads;
mod hooks;
mod statements;

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
};

use rusqlite::{Connection, config::DbConfig};
use trackway_ports::{AppendError, Faults, Receipt};

use crate::{
    FolderBlobs,
    checkpoint::Checkpoints,
    prepared::{Job, Prepared},
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

/// What one append came to.
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
            match self.commit(&mut statements, &mut heads, &batch) {
                Ok(outcomes) => {
                    for (job, outcome) in batch.drain(..).zip(outcomes) {
                        answer(job, outcome);
                    }
                    self.faults.reach("store:after-done");
                    self.wake_checkpoints(&mut statements);
                }
                Err(stop) => {
                    // Rolls back where the failed commit has not done so itself. The waiters are told
                    // in any case, and nobody writes after this.
                    let _ = statements.rollback();
                    for job in batch.drain(..) {
                        answer(job, Err(stop.error()));
                    }
                    return Err(stop);
                }
            }
        }
        Ok(())
    }

    /// Commits the batch. An append that is refused writes nothing; the others are not touched by it.
    /// Any error ends the writer: after a failed sync nobody knows what the disk holds, and trying
    /// again could succeed without having written.
    fn commit(
        &self,
        statements: &mut Statements<'_>,
        heads: &mut Heads,
        batch: &[Job],
    ) -> Result<Vec<Outcome>, Stop> {
        for job in batch {
            self.write_blobs(&job.append)?;
        }
        let _turn = self.checkpoints.turn();
        let mut write = || {
            statements.begin()?;
            heads.refresh(statements.data_version()?);
            let mut newest = statements.newest_pos()?;
            let outcomes = batch
                .iter()
                .map(|job| statements.write(&job.append, heads, &mut newest))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(outcomes)
        };
        let outcomes = write().map_err(|error| Stop::because("writing", &error))?;
        self.faults.reach("store:before-commit");
        statements.commit().map_err(|error| Stop::because("committing", &error))?;
        self.faults.reach("store:after-commit");
        Ok(outcomes)
    }

    fn write_blobs(&self, append: &Prepared) -> Result<(), Stop> {
        for record in &append.records {
            if let Some(hash) = record.blob {
                self.blobs
                    .write(hash, record.body.as_bytes())
                    .map_err(|error| Stop(format!("writing blob {hash}: {error}")))?;
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

    fn error(&self) -> AppendError {
        AppendError::Broken { reason: self.0.clone() }
    }
}

fn answer(job: Job, outcome: Outcome) {
    // A panic in one caller's code must not take the store from the others. The panic itself has been
    // printed by the panic hook.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| (job.done)(outcome)));
}
