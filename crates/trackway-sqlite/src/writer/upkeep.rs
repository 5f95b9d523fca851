//! Work that is not a single append: removing runs, claiming work, and appends that belong together.

use rusqlite::Connection;
use trackway_ports::{AppendError, BlobHash, ReadError, Receipt};

use crate::{
    error::is_transient,
    prepared::{Prepared, Upkeep},
    read::is_damage,
};

use super::{
    CommitError, Outcome, Writer, committing, heads::Heads, removal, statements::Statements,
    writing,
};

impl Writer {
    /// Runs the work in the open transaction, and ends the transaction. If the data is too damaged for it,
    /// nothing is written, the caller gets the error, and the store continues.
    pub(super) fn keep_up(
        &self,
        conn: &Connection,
        statements: &mut Statements<'_>,
        heads: &mut Heads,
        upkeep: &Upkeep,
    ) -> Result<Outcome, CommitError> {
        heads.refresh(statements.data_version().map_err(writing)?);
        let newest = statements.newest_pos().map_err(writing)?;
        // The cached heads of these runs are wrong after this work, or after its rollback.
        match upkeep {
            Upkeep::Remove(removal) => {
                removal.runs.iter().for_each(|run| heads.forget(run.run));
            }
            Upkeep::Together(appends) => appends.iter().for_each(|it| heads.forget(it.run)),
            Upkeep::Claim(_) => {}
        }
        let done = match upkeep {
            Upkeep::Remove(removal) => removal::remove(conn, statements, removal, newest),
            Upkeep::Together(appends) => together(statements, appends, newest),
            Upkeep::Claim(claim) => claim(conn).map_err(Failed::Read).map(|runs| {
                runs.into_iter().for_each(|run| heads.forget(run));
                Ok(Vec::new())
            }),
        };
        let unneeded = match done {
            Ok(Ok(unneeded)) => unneeded,
            Ok(Err(refused)) => return undo(statements, refused),
            Err(Failed::Sql(error)) if is_transient(&error) => return Err(writing(error)),
            Err(Failed::Read(ReadError::Unavailable { reason })) => {
                return undo(statements, AppendError::Unavailable { reason });
            }
            Err(error) => return undo(statements, broken(&error)),
        };
        // Claims happen when a process starts, at the same time as its first appends. They have their own
        // fault points, so that tests can count the points of appends.
        let (before, after) = match upkeep {
            Upkeep::Claim(_) => ("store:before-claim", "store:after-claim"),
            _ => ("store:before-commit", "store:after-commit"),
        };
        self.faults.reach(before);
        match statements.commit() {
            Ok(()) => {}
            Err(error) if is_damage(&error) => return undo(statements, broken(&error)),
            Err(error) => return Err(committing(error)),
        }
        self.faults.reach(after);
        self.sweep(conn, &unneeded);
        Ok(Ok(Receipt { first: 0, starts: Vec::new(), hooks: false }))
    }

    /// The runs that named these blobs are removed; a crash before this leaves unused files.
    fn sweep(&self, conn: &Connection, unneeded: &[BlobHash]) {
        if unneeded.is_empty() {
            return;
        }
        self.faults.reach("store:before-sweep");
        if let Err(error) = removal::sweep(conn, &self.blobs, unneeded) {
            tracing::warn!(%error, "unused blobs were not removed");
        }
        self.faults.reach("store:after-sweep");
    }
}

/// Why the work failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The blobs that are unused after it, or why it is refused.
pub(super) type Done = Result<Result<Vec<BlobHash>, AppendError>, Failed>;

/// Writes appends in order, up to the first that is refused.
fn together(statements: &mut Statements<'_>, appends: &[Prepared], newest: i64) -> Done {
    let (mut heads, mut newest) = (Heads::default(), newest);
    for append in appends {
        if let Err(refused) = statements.write(append, &mut heads, &mut newest)? {
            return Ok(Err(refused));
        }
    }
    Ok(Ok(Vec::new()))
}

fn undo(statements: &mut Statements<'_>, refused: AppendError) -> Result<Outcome, CommitError> {
    statements.rollback().map_err(writing)?;
    Ok(Err(refused))
}

fn broken(error: &dyn std::error::Error) -> AppendError {
    AppendError::Broken { reason: error.to_string() }
}
