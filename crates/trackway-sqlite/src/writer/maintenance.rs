//! Work that is not a single append: removing runs, claiming work, and appends that belong together.

use rusqlite::Connection;
use trackway_ports::{AppendError, AppendReceipt, BlobHash, ReadError};

use crate::{
    audit,
    read::is_damaged_page_error,
    sqlite_error::is_retryable_sqlite_error,
    write_jobs::{EncodedAppend, MaintenanceRequest},
};

use super::{
    CommitError, WriteOutcome, WriterThread, classify_commit_failure, classify_write_failure,
    head_cache::RunHeadCache, run_removal, statements::WriterStatements,
};

impl WriterThread {
    /// Runs the work in the open transaction, and ends the transaction. If the data is too damaged for it,
    /// nothing is written, the caller gets the error, and the store continues.
    pub(super) fn run_maintenance_transaction(
        &self,
        conn: &Connection,
        statements: &mut WriterStatements<'_>,
        heads: &mut RunHeadCache,
        maintenance: &MaintenanceRequest,
    ) -> Result<WriteOutcome, CommitError> {
        heads.clear_if_database_changed(statements.sqlite_data_version().map_err(classify_write_failure)?);
        let newest = statements.newest_position().map_err(classify_write_failure)?;
        // The cached heads of these runs are wrong after this work, or after its rollback.
        match maintenance {
            MaintenanceRequest::Remove(removal) => {
                removal.runs.iter().for_each(|run| heads.forget_run_head(run.run));
            }
            MaintenanceRequest::AppendAll(appends) => {
                appends.iter().for_each(|it| heads.forget_run_head(it.run))
            }
            MaintenanceRequest::RecordAudit(_)
            | MaintenanceRequest::Artifacts(_)
            | MaintenanceRequest::Claim(_) => {}
        }
        let done = match maintenance {
            MaintenanceRequest::Remove(removal) => {
                run_removal::remove_unchanged_runs(conn, statements, removal, newest)
            }
            MaintenanceRequest::AppendAll(appends) => write_appends_in_order(statements, appends, newest),
            MaintenanceRequest::RecordAudit(events) => {
                audit::insert_audit_events(conn, events).map(|()| Ok(Vec::new())).map_err(Into::into)
            }
            MaintenanceRequest::Artifacts(work) => (work.write)(conn).map(Ok).map_err(Into::into),
            MaintenanceRequest::Claim(claim) => claim(conn).map_err(MaintenanceError::Read).map(|runs| {
                runs.into_iter().for_each(|run| heads.forget_run_head(run));
                Ok(Vec::new())
            }),
        };
        let unneeded = match done {
            Ok(Ok(unneeded)) => unneeded,
            Ok(Err(refused)) => return roll_back_refused_work(statements, refused),
            Err(MaintenanceError::Sql(error)) if is_retryable_sqlite_error(&error) => {
                return Err(classify_write_failure(error));
            }
            Err(MaintenanceError::Read(ReadError::Unavailable { reason })) => {
                return roll_back_refused_work(statements, AppendError::Unavailable { reason });
            }
            Err(error) => return roll_back_refused_work(statements, broken_store_error(&error)),
        };
        // Claims happen when a process starts, at the same time as its first appends, and audit events at
        // any time. They have their own fault points, so that tests can count the points of appends.
        let (before, after) = match maintenance {
            MaintenanceRequest::RecordAudit(_) => ("store:before-audit", "store:after-audit"),
            MaintenanceRequest::Artifacts(_) => ("store:before-artifact", "store:after-artifact"),
            MaintenanceRequest::Claim(_) => ("store:before-claim", "store:after-claim"),
            _ => ("store:before-commit", "store:after-commit"),
        };
        self.faults.reach_fault_point(before);
        match statements.commit_transaction() {
            Ok(()) => {}
            Err(error) if is_damaged_page_error(&error) => {
                return roll_back_refused_work(statements, broken_store_error(&error));
            }
            Err(error) => return Err(classify_commit_failure(error)),
        }
        self.faults.reach_fault_point(after);
        self.delete_blobs_of_removed_runs(conn, &unneeded);
        Ok(Ok(AppendReceipt { first_position: 0, start_positions: Vec::new(), has_due_hook: false }))
    }

    /// The runs that named these blobs are removed; a crash before this leaves unused files.
    fn delete_blobs_of_removed_runs(&self, conn: &Connection, unneeded_blobs: &[BlobHash]) {
        if unneeded_blobs.is_empty() {
            return;
        }
        self.faults.reach_fault_point("store:before-sweep");
        if let Err(error) = run_removal::delete_unreferenced_blobs(conn, &self.blobs, unneeded_blobs) {
            tracing::warn!(%error, "unused blobs were not removed");
        }
        self.faults.reach_fault_point("store:after-sweep");
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
fn write_appends_in_order(
    statements: &mut WriterStatements<'_>,
    appends: &[EncodedAppend],
    newest: i64,
) -> MaintenanceResult {
    let (mut heads, mut newest) = (RunHeadCache::default(), newest);
    for append in appends {
        if let Err(refused) = statements.check_and_write_append(append, &mut heads, &mut newest)? {
            return Ok(Err(refused));
        }
    }
    Ok(Ok(Vec::new()))
}

fn roll_back_refused_work(
    statements: &mut WriterStatements<'_>,
    refused: AppendError,
) -> Result<WriteOutcome, CommitError> {
    statements.roll_back_transaction().map_err(classify_write_failure)?;
    Ok(Err(refused))
}

fn broken_store_error(error: &dyn std::error::Error) -> AppendError {
    AppendError::Broken { reason: error.to_string() }
}
