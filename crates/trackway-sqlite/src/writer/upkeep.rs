//! Work that is not one append: removing runs, claiming work, and writing appends that belong together.

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
    /// Does it in the transaction that has begun, and ends that. Where the data that it is about is too
    /// damaged for it, nothing of it stays, whoever asked is told, and the store goes on.
    pub(super) fn keep_up(
        &self,
        conn: &Connection,
        statements: &mut Statements<'_>,
        heads: &mut Heads,
        upkeep: &Upkeep,
    ) -> Result<Outcome, CommitError> {
        heads.refresh(statements.data_version().map_err(writing)?);
        let newest = statements.newest_pos().map_err(writing)?;
        // What is remembered of these runs would be wrong after this, or after its undoing.
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
        // Claims are made when a process starts, beside its first appends: they have points of their own, so
        // that the points of appends can be counted.
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

    /// The runs that named these blobs are gone; a death before this leaves files that nobody needs.
    fn sweep(&self, conn: &Connection, unneeded: &[BlobHash]) {
        if unneeded.is_empty() {
            return;
        }
        self.faults.reach("store:before-sweep");
        if let Err(error) = removal::sweep(conn, &self.blobs, unneeded) {
            tracing::warn!(%error, "blobs that nobody needs were left behind");
        }
        self.faults.reach("store:after-sweep");
    }
}

/// Why it could not be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The blobs that nobody needs after it, or why it is refused.
pub(super) type Done = Result<Result<Vec<BlobHash>, AppendError>, Failed>;

/// Writes appends one after the other, up to the first that is refused.
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
