//! The writer thread: the only one that writes. It blocks on its inbox, takes the waiting work, commits
//! it in one transaction, and answers every caller. Work that is not a single append (removing runs,
//! claiming work, appends that belong together) waits in the same inbox, has its own transaction, and
//! fails alone. There is no timer: a single append is committed at once, and under load the appends that
//! arrive during one commit form the next batch.

pub(crate) mod artifact_writes;
mod guided_index_writes;
mod head_cache;
mod hook_writes;
pub(crate) mod lease_writes;
mod maintenance;
mod run_removal;
mod statements;

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
};

use rusqlite::{Connection, config::DbConfig};
use trackway_ports::{AppendError, AppendReceipt, BlobHash, FaultInjector};

use crate::{
    FolderBlobStore,
    blobs::BlobWriteError,
    sqlite_error::{is_certainly_uncommitted, is_retryable_sqlite_error},
    wal_checkpoint::WalCheckpointHandle,
    write_jobs::{EncodedAppend, MaintenanceRequest, WriteJob, WriteRequest},
};

use self::{head_cache::RunHeadCache, statements::WriterStatements};

/// Appends in one transaction. A larger batch would save nothing more per append, and its first append
/// would wait longer for the last.
/// Limit (Store): appends in one transaction.
const BATCH_MAX: usize = 1_024;

/// What the writer uses in addition to its connection.
#[derive(Debug)]
pub(crate) struct WriterThread {
    pub(crate) blobs: FolderBlobStore,
    pub(crate) faults: Arc<dyn FaultInjector>,
    pub(crate) checkpoints: WalCheckpointHandle,
}

/// The outcome of one piece of work.
type WriteOutcome = Result<AppendReceipt, AppendError>;

/// Why a batch was not committed.
#[derive(Debug, Clone)]
enum CommitError {
    /// Nothing was written. The store continues, and a later attempt can succeed.
    Unavailable(String),
    /// The result of the write is unknown, or the database is damaged at the place of the write. The
    /// store can no longer write.
    Unknown(String),
}

pub(crate) fn new_write_job_channel() -> (Sender<WriteJob>, Receiver<WriteJob>) {
    // Not bounded: the port leaves it to the callers to limit their pending appends.
    channel()
}

impl WriterThread {
    /// Serves the inbox until every sender is dropped, or until the store can no longer write.
    pub(crate) fn run_writer_thread(self, conn: Connection, inbox: &Receiver<WriteJob>) {
        let result = self.serve_write_jobs(&conn, inbox);
        if let Err(error) = &result {
            tracing::error!(reason = error.failure_reason(), "the store has stopped writing");
            // The next start reads the log as it is on the disk; nothing is moved before.
            let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        drop(conn);
        match result {
            Ok(()) => self.checkpoints.request_final_wal_truncation(),
            Err(error) => {
                drop(self.checkpoints);
                for job in inbox {
                    report_job_outcome(job, Err(error.to_append_error()));
                }
            }
        }
    }

    fn serve_write_jobs(&self, conn: &Connection, inbox: &Receiver<WriteJob>) -> Result<(), CommitError> {
        let mut statements = WriterStatements::prepare_writer_statements(conn)
            .map_err(|error| CommitError::Unknown(format!("preparing to write: {error}")))?;
        let mut heads = RunHeadCache::default();
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while let Ok(first) = inbox.recv() {
            batch.push(first);
            batch.extend(inbox.try_iter().take(BATCH_MAX - 1));
            while !batch.is_empty() {
                let first_alone = batch.iter().position(|job| !job.is_append_job());
                let together = first_alone.unwrap_or(batch.len()).max(1);
                match self.commit_batch(conn, &mut statements, &mut heads, &batch[..together]) {
                    Ok(outcomes) => {
                        for (job, outcome) in batch.drain(..together).zip(outcomes) {
                            report_job_outcome(job, outcome);
                        }
                        self.faults.reach_fault_point("store:after-done");
                        self.wake_checkpointer(&mut statements);
                    }
                    Err(error) => {
                        let error = self.roll_back_failed_batch(conn, &mut statements, &mut heads, error);
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
                            report_job_outcome(job, Err(error.to_append_error()));
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
    fn roll_back_failed_batch(
        &self,
        conn: &Connection,
        statements: &mut WriterStatements<'_>,
        heads: &mut RunHeadCache,
        error: CommitError,
    ) -> CommitError {
        // These entries belong to the transaction that is rolled back.
        heads.clear_all_run_heads();
        if conn.is_autocommit() {
            return error;
        }
        match (statements.roll_back_transaction(), error) {
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
    fn commit_batch(
        &self,
        conn: &Connection,
        statements: &mut WriterStatements<'_>,
        heads: &mut RunHeadCache,
        batch: &[WriteJob],
    ) -> Result<Vec<WriteOutcome>, CommitError> {
        // A blob that cannot be written refuses only the append that needs it.
        let mut refusals = Vec::with_capacity(batch.len());
        for job in batch {
            refusals.push(self.write_blobs_of_request(&job.work)?.err());
        }
        if refusals.iter().all(Option::is_some) {
            return Ok(refusals.into_iter().flatten().map(Err).collect());
        }
        let _turn = self.checkpoints.lock_for_write_transaction();
        statements.begin_transaction().map_err(classify_write_failure)?;
        let mut appends = Vec::with_capacity(batch.len());
        for (job, refusal) in batch.iter().zip(refusals) {
            let refusal = match refusal {
                Some(refusal) => Some(refusal),
                None => self.rewrite_removed_blobs_of_request(&job.work)?.err(),
            };
            match &job.work {
                WriteRequest::Append(append) => appends.push((append, refusal)),
                WriteRequest::Maintenance(upkeep) => {
                    return match refusal {
                        Some(refusal) => {
                            statements.roll_back_transaction().map_err(classify_write_failure)?;
                            Ok(vec![Err(refusal)])
                        }
                        None => self
                            .run_maintenance_transaction(conn, statements, heads, upkeep)
                            .map(|it| vec![it]),
                    };
                }
            }
        }
        let write = || {
            heads.clear_if_database_changed(statements.sqlite_data_version()?);
            let mut newest = statements.newest_position()?;
            let outcomes = appends
                .into_iter()
                .map(|(append, refusal)| match refusal {
                    Some(refusal) => Ok(Err(refusal)),
                    None => statements.check_and_write_append(append, heads, &mut newest),
                })
                .collect::<Result<Vec<_>, _>>()?;
            Ok(outcomes)
        };
        let outcomes = write().map_err(classify_write_failure)?;
        self.faults.reach_fault_point("store:before-commit");
        statements.commit_transaction().map_err(classify_commit_failure)?;
        self.faults.reach_fault_point("store:after-commit");
        Ok(outcomes)
    }

    /// Runs before the write lock is taken, because file operations are slow.
    fn write_blobs_of_request(&self, work: &WriteRequest) -> Result<Result<(), AppendError>, CommitError> {
        // The content of an artifact was written by its caller.
        if matches!(work, WriteRequest::Maintenance(MaintenanceRequest::Artifacts(_))) {
            return Ok(Ok(()));
        }
        for (hash, body) in blobs_in_request(work) {
            if let Err(refused) = classify_blob_write(hash, self.blobs.write_blob(hash, body))? {
                return Ok(Err(refused));
            }
        }
        Ok(Ok(()))
    }

    /// Runs under the write lock, which also protects the removal of blobs: another process may have
    /// removed a blob that no event named yet, after it was found or written.
    fn rewrite_removed_blobs_of_request(
        &self,
        work: &WriteRequest,
    ) -> Result<Result<(), AppendError>, CommitError> {
        for (hash, body) in blobs_in_request(work) {
            if !self.blobs.contains_blob(hash)
                && let Err(refused) = classify_blob_write(hash, self.blobs.write_blob(hash, body))?
            {
                return Ok(Err(refused));
            }
        }
        Ok(Ok(()))
    }

    fn wake_checkpointer(&self, statements: &mut WriterStatements<'_>) {
        // An error here loses nothing: the next commit checks again.
        if let Ok(frames) = statements.count_unmoved_wal_frames() {
            self.checkpoints.wake_checkpointer_if_due(frames);
        }
    }
}

impl CommitError {
    fn failure_reason(&self) -> &str {
        match self {
            Self::Unavailable(reason) | Self::Unknown(reason) => reason,
        }
    }

    fn to_append_error(&self) -> AppendError {
        match self.clone() {
            Self::Unavailable(reason) => AppendError::Unavailable { reason },
            Self::Unknown(reason) => AppendError::Broken { reason },
        }
    }
}

/// The outer error stops the store; the inner one refuses the append that names the blob.
fn classify_blob_write(
    hash: BlobHash,
    write_result: Result<(), BlobWriteError>,
) -> Result<Result<(), AppendError>, CommitError> {
    match write_result {
        Ok(()) => Ok(Ok(())),
        Err(BlobWriteError::Unavailable(error)) => {
            let reason = format!("writing blob {hash}: {error}");
            tracing::warn!(reason, "a blob was not written; its append can be tried again");
            Ok(Err(AppendError::Unavailable { reason }))
        }
        Err(BlobWriteError::Unknown(error)) => {
            Err(CommitError::Unknown(format!("writing blob {hash}: {error}")))
        }
    }
}

/// The bodies of appends that are stored in files, and the content of a new version of an artifact.
fn blobs_in_request(work: &WriteRequest) -> impl Iterator<Item = (BlobHash, &[u8])> {
    let (appends, content) = match work {
        WriteRequest::Append(append) => (std::slice::from_ref(&**append), &None),
        WriteRequest::Maintenance(MaintenanceRequest::AppendAll(appends)) => (appends.as_slice(), &None),
        WriteRequest::Maintenance(MaintenanceRequest::Artifacts(work)) => (&[][..], &work.content),
        WriteRequest::Maintenance(
            MaintenanceRequest::Remove(_) | MaintenanceRequest::RecordAudit(_) | MaintenanceRequest::Claim(_),
        ) => (&[][..], &None),
    };
    let records =
        appends.iter().flat_map(EncodedAppend::iter_with_started_run_appends).flat_map(|it| &it.records);
    let bodies = records.filter_map(|record| Some((record.blob?, record.body.as_bytes())));
    bodies.chain(content.iter().map(|(hash, bytes)| (*hash, bytes.as_slice())))
}

/// Before the commit, every failure is rolled back. If the database is damaged, the next attempt would
/// fail in the same way.
#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
fn classify_write_failure(error: rusqlite::Error) -> CommitError {
    let reason = format!("writing: {error}");
    match is_retryable_sqlite_error(&error) {
        true => CommitError::Unavailable(reason),
        false => CommitError::Unknown(reason),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
fn classify_commit_failure(error: rusqlite::Error) -> CommitError {
    let reason = format!("committing: {error}");
    match is_certainly_uncommitted(&error) {
        true => CommitError::Unavailable(reason),
        false => CommitError::Unknown(reason),
    }
}

fn report_job_outcome(job: WriteJob, outcome: WriteOutcome) {
    // A panic in one caller's code must not stop the store for the others. The panic hook has already
    // printed the panic.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| (job.done)(outcome)));
}

#[cfg(test)]
mod tests;
