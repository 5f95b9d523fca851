//! The writer thread: the only one that writes. It blocks on its inbox, takes the waiting work, commits
//! it in one transaction, and answers every caller. Work that is not a single append (removing runs,
//! claiming work, appends that belong together) waits in the same inbox, has its own transaction, and
//! fails alone. There is no timer: a single append is committed at once, and under load the appends that
//! arrive during one commit form the next batch.

mod guided;
mod heads;
mod hooks;
pub(crate) mod leases;
mod removal;
mod statements;
mod upkeep;

use std::{
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
    blobs::BlobError,
    checkpoint::Checkpoints,
    error::{is_not_committed, is_transient},
    prepared::{Job, Prepared, Upkeep, Work},
};

use self::{heads::Heads, statements::Statements};

/// Appends in one transaction. A larger batch would save nothing more per append, and its first append
/// would wait longer for the last.
/// Limit (Store): appends in one transaction.
const BATCH_MAX: usize = 1_024;

/// What the writer uses in addition to its connection.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) blobs: FolderBlobs,
    pub(crate) faults: Arc<dyn Faults>,
    pub(crate) checkpoints: Checkpoints,
}

/// The outcome of one piece of work.
type Outcome = Result<Receipt, AppendError>;

/// Why a batch was not committed.
#[derive(Debug, Clone)]
enum CommitError {
    /// Nothing was written. The store continues, and a later attempt can succeed.
    Unavailable(String),
    /// The result of the write is unknown, or the database is damaged at the place of the write. The
    /// store can no longer write.
    Unknown(String),
}

pub(crate) fn inbox() -> (Sender<Job>, Receiver<Job>) {
    // Not bounded: the port leaves it to the callers to limit their pending appends.
    channel()
}

impl Writer {
    /// Serves the inbox until every sender is dropped, or until the store can no longer write.
    pub(crate) fn run(self, conn: Connection, inbox: &Receiver<Job>) {
        let result = self.serve(&conn, inbox);
        if let Err(error) = &result {
            tracing::error!(reason = error.reason(), "the store has stopped writing");
            // The next start reads the log as it is on the disk; nothing is moved before.
            let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        drop(conn);
        match result {
            Ok(()) => self.checkpoints.finish(),
            Err(error) => {
                drop(self.checkpoints);
                for job in inbox {
                    answer(job, Err(error.for_caller()));
                }
            }
        }
    }

    fn serve(&self, conn: &Connection, inbox: &Receiver<Job>) -> Result<(), CommitError> {
        let mut statements = Statements::prepare(conn)
            .map_err(|error| CommitError::Unknown(format!("preparing to write: {error}")))?;
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
                    Err(error) => {
                        let error = self.undo(conn, &mut statements, &mut heads, error);
                        let refused = match &error {
                            CommitError::Unavailable(reason) => {
                                tracing::warn!(
                                    reason,
                                    appends = together,
                                    "a batch was not written; its appends can be tried again"
                                );
                                together
                            }
                            // No later batch is written.
                            CommitError::Unknown(_) => batch.len(),
                        };
                        for job in batch.drain(..refused) {
                            answer(job, Err(error.for_caller()));
                        }
                        if matches!(error, CommitError::Unknown(_)) {
                            return Err(error);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Rolls back, unless the failure has already done so. If the transaction cannot be ended, the store
    /// stops: the content of the next commit would be unknown.
    fn undo(
        &self,
        conn: &Connection,
        statements: &mut Statements<'_>,
        heads: &mut Heads,
        error: CommitError,
    ) -> CommitError {
        // These entries belong to the transaction that is rolled back.
        heads.forget_all();
        if conn.is_autocommit() {
            return error;
        }
        match (statements.rollback(), error) {
            (Ok(()), error) => error,
            (Err(_), error @ CommitError::Unknown(_)) => error,
            (Err(failed), CommitError::Unavailable(reason)) => {
                CommitError::Unknown(format!("{reason}; rolling back: {failed}"))
            }
        }
    }

    /// Commits the batch: appends, or one piece of other work. A refused append writes nothing and does
    /// not affect the others. An error that may have left data behind ends the writer: after a failed
    /// sync the content of the disk is unknown, and another attempt could succeed without having written.
    fn commit(
        &self,
        conn: &Connection,
        statements: &mut Statements<'_>,
        heads: &mut Heads,
        batch: &[Job],
    ) -> Result<Vec<Outcome>, CommitError> {
        // A blob that cannot be written refuses only the append that needs it.
        let mut refusals = Vec::with_capacity(batch.len());
        for job in batch {
            refusals.push(self.write_blobs(&job.work)?.err());
        }
        if refusals.iter().all(Option::is_some) {
            return Ok(refusals.into_iter().flatten().map(Err).collect());
        }
        let _turn = self.checkpoints.turn();
        statements.begin().map_err(writing)?;
        let mut appends = Vec::with_capacity(batch.len());
        for (job, refusal) in batch.iter().zip(refusals) {
            let refusal = match refusal {
                Some(refusal) => Some(refusal),
                None => self.keep_blobs(&job.work)?.err(),
            };
            match &job.work {
                Work::Append(append) => appends.push((append, refusal)),
                Work::Upkeep(upkeep) => {
                    return match refusal {
                        Some(refusal) => {
                            statements.rollback().map_err(writing)?;
                            Ok(vec![Err(refusal)])
                        }
                        None => self.keep_up(conn, statements, heads, upkeep).map(|it| vec![it]),
                    };
                }
            }
        }
        let write = || {
            heads.refresh(statements.data_version()?);
            let mut newest = statements.newest_pos()?;
            let outcomes = appends
                .into_iter()
                .map(|(append, refusal)| match refusal {
                    Some(refusal) => Ok(Err(refusal)),
                    None => statements.write(append, heads, &mut newest),
                })
                .collect::<Result<Vec<_>, _>>()?;
            Ok(outcomes)
        };
        let outcomes = write().map_err(writing)?;
        self.faults.reach("store:before-commit");
        statements.commit().map_err(committing)?;
        self.faults.reach("store:after-commit");
        Ok(outcomes)
    }

    /// Runs before the write lock is taken, because file operations are slow.
    fn write_blobs(&self, work: &Work) -> Result<Result<(), AppendError>, CommitError> {
        for (hash, body) in blobs_of(work) {
            if let Err(refused) = blob_written(hash, self.blobs.write(hash, body))? {
                return Ok(Err(refused));
            }
        }
        Ok(Ok(()))
    }

    /// Runs under the write lock, which also protects the removal of blobs: another process may have
    /// removed a blob that no event named yet, after it was found or written.
    fn keep_blobs(&self, work: &Work) -> Result<Result<(), AppendError>, CommitError> {
        for (hash, body) in blobs_of(work) {
            if !self.blobs.has(hash)
                && let Err(refused) = blob_written(hash, self.blobs.write(hash, body))?
            {
                return Ok(Err(refused));
            }
        }
        Ok(Ok(()))
    }

    fn wake_checkpoints(&self, statements: &mut Statements<'_>) {
        // An error here loses nothing: the next commit checks again.
        if let Ok(frames) = statements.frames_to_move() {
            self.checkpoints.wake_for(frames);
        }
    }
}

impl CommitError {
    fn reason(&self) -> &str {
        match self {
            Self::Unavailable(reason) | Self::Unknown(reason) => reason,
        }
    }

    fn for_caller(&self) -> AppendError {
        match self.clone() {
            Self::Unavailable(reason) => AppendError::Unavailable { reason },
            Self::Unknown(reason) => AppendError::Broken { reason },
        }
    }
}

/// The outer error stops the store; the inner one refuses the append that names the blob.
fn blob_written(
    hash: BlobHash,
    written: Result<(), BlobError>,
) -> Result<Result<(), AppendError>, CommitError> {
    match written {
        Ok(()) => Ok(Ok(())),
        Err(BlobError::Unavailable(error)) => {
            let reason = format!("writing blob {hash}: {error}");
            tracing::warn!(reason, "a blob was not written; its append can be tried again");
            Ok(Err(AppendError::Unavailable { reason }))
        }
        Err(BlobError::Unknown(error)) => {
            Err(CommitError::Unknown(format!("writing blob {hash}: {error}")))
        }
    }
}

/// The bodies of appends that are stored in files.
fn blobs_of(work: &Work) -> impl Iterator<Item = (BlobHash, &[u8])> {
    let appends = match work {
        Work::Append(append) => std::slice::from_ref(&**append),
        Work::Upkeep(Upkeep::Together(appends)) => appends.as_slice(),
        Work::Upkeep(Upkeep::Remove(_) | Upkeep::Claim(_)) => &[],
    };
    let records = appends.iter().flat_map(Prepared::with_starts).flat_map(|it| &it.records);
    records.filter_map(|record| Some((record.blob?, record.body.as_bytes())))
}

/// Before the commit, every failure is rolled back. If the database is damaged, the next attempt would
/// fail in the same way.
#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
fn writing(error: rusqlite::Error) -> CommitError {
    let reason = format!("writing: {error}");
    match is_transient(&error) {
        true => CommitError::Unavailable(reason),
        false => CommitError::Unknown(reason),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
fn committing(error: rusqlite::Error) -> CommitError {
    let reason = format!("committing: {error}");
    match is_not_committed(&error) {
        true => CommitError::Unavailable(reason),
        false => CommitError::Unknown(reason),
    }
}

fn answer(job: Job, outcome: Outcome) {
    // A panic in one caller's code must not stop the store for the others. The panic hook has already
    // printed the panic.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| (job.done)(outcome)));
}

#[cfg(test)]
mod tests;
