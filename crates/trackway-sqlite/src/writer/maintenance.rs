//! Work that is not a single append: removing runs, claiming work, and appends that belong together.

use rusqlite::Connection;
use trackway_ports::{AppendError, AppendReceipt, BlobHash, ReadError};

use crate::{
    read::is_page_damage,
    sqlite_error::is_retryable,
    write_jobs::{EncodedAppend, Maintenance},
};

use super::{
    CommitError, WriteOutcome, WriterThread, commit_error, head_cache::HeadCache, removal,
    statements::WriterStatements, write_error,
};

impl WriterThread {
    /// Runs the work in the open transaction, and ends the transaction. If the data is too damaged for it,
    /// nothing is written, the caller gets the error, and the store continues.
    pub(super) fn run_maintenance(
        &self,
        conn: &Connection,
        statements: &mut WriterStatements<'_>,
        heads: &mut HeadCache,
        upkeep: &Maintenance,
    ) -> Result<WriteOutcome, CommitError> {
        heads.forget_if_changed(statements.data_version().map_err(write_error)?);
        let newest = statements.newest_position().map_err(write_error)?;
        // The cached heads of these runs are wrong after this work, or after its rollback.
        match upkeep {
            Maintenance::Remove(removal) => {
                removal.runs.iter().for_each(|run| heads.forget_run(run.run));
            }
            Maintenance::AppendAll(appends) => appends.iter().for_each(|it| heads.forget_run(it.run)),
            Maintenance::Claim(_) => {}
        }
        let done = match upkeep {
            Maintenance::Remove(removal) => removal::remove_runs(conn, statements, removal, newest),
            Maintenance::AppendAll(appends) => append_all(statements, appends, newest),
            Maintenance::Claim(claim) => claim(conn).map_err(MaintenanceError::Read).map(|runs| {
                runs.into_iter().for_each(|run| heads.forget_run(run));
                Ok(Vec::new())
            }),
        };
        let unneeded = match done {
            Ok(Ok(unneeded)) => unneeded,
            Ok(Err(refused)) => return roll_back_refused(statements, refused),
            Err(MaintenanceError::Sql(error)) if is_retryable(&error) => {
                return Err(write_error(error));
            }
            Err(MaintenanceError::Read(ReadError::Unavailable { reason })) => {
                return roll_back_refused(statements, AppendError::Unavailable { reason });
            }
            Err(error) => return roll_back_refused(statements, broken_store_error(&error)),
        };
        // Claims happen when a process starts, at the same time as its first appends. They have their own
        // fault points, so that tests can count the points of appends.
        let (before, after) = match upkeep {
            Maintenance::Claim(_) => ("store:before-claim", "store:after-claim"),
            _ => ("store:before-commit", "store:after-commit"),
        };
        self.faults.reach_point(before);
        match statements.commit_transaction() {
            Ok(()) => {}
            Err(error) if is_page_damage(&error) => {
                return roll_back_refused(statements, broken_store_error(&error));
            }
            Err(error) => return Err(commit_error(error)),
        }
        self.faults.reach_point(after);
        self.delete_unneeded_blobs(conn, &unneeded);
        Ok(Ok(AppendReceipt { first_position: 0, start_positions: Vec::new(), has_due_hook: false }))
    }

    /// The runs that named these blobs are removed; a crash before this leaves unused files.
    fn delete_unneeded_blobs(&self, conn: &Connection, unneeded: &[BlobHash]) {
        if unneeded.is_empty() {
            return;
        }
        self.faults.reach_point("store:before-sweep");
        if let Err(error) = removal::delete_unnamed_blobs(conn, &self.blobs, unneeded) {
            tracing::warn!(%error, "unused blobs were not removed");
        }
        self.faults.reach_point("store:after-sweep");
    }
}

/// Why the work failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum MaintenanceError {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The blobs that are unused after it, or why it is refused.
pub(super) type MaintenanceResult = Result<Result<Vec<BlobHash>, AppendError>, MaintenanceError>;

/// Writes appends in order, up to the first that is refused.
fn append_all(
    statements: &mut WriterStatements<'_>,
    appends: &[EncodedAppend],
    newest: i64,
) -> MaintenanceResult {
    let (mut heads, mut newest) = (HeadCache::default(), newest);
    for append in appends {
        if let Err(refused) = statements.write_append(append, &mut heads, &mut newest)? {
            return Ok(Err(refused));
        }
    }
    Ok(Ok(Vec::new()))
}

fn roll_back_refused(
    statements: &mut WriterStatements<'_>,
    refused: AppendError,
) -> Result<WriteOutcome, CommitError> {
    statements.roll_back_transaction().map_err(write_error)?;
    Ok(Err(refused))
}

fn broken_store_error(error: &dyn std::error::Error) -> AppendError {
    AppendError::Broken { reason: error.to_string() }
}
