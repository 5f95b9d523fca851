//! Work that is no append: removing runs, and making the index of a run anew.

use rusqlite::Connection;
use trackway_ports::{AppendError, BlobHash, Receipt};

use crate::{prepared::Upkeep, read::is_damage};

use super::{
    Outcome, Stop, Writer,
    heads::Heads,
    reindex::{self, Failed},
    removal,
    statements::Statements,
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
    ) -> Result<Outcome, Stop> {
        heads.refresh(statements.data_version().map_err(writing)?);
        let newest = statements.newest_pos().map_err(writing)?;
        let done = match upkeep {
            Upkeep::Remove(runs) => removal::remove(conn, runs, newest).map_err(Failed::from),
            Upkeep::Reindex(run) => {
                reindex::reindex(conn, &self.blobs, &mut statements.guided, *run)
                    .map(|()| Vec::new())
            }
        };
        let unneeded = match done {
            Ok(unneeded) => unneeded,
            Err(error) => return undo(statements, error.to_string()),
        };
        self.faults.reach("store:before-commit");
        match statements.commit() {
            Ok(()) => {}
            Err(error) if is_damage(&error) => return undo(statements, error.to_string()),
            Err(error) => return Err(Stop::because("committing", &error)),
        }
        self.faults.reach("store:after-commit");
        if let Upkeep::Remove(runs) = upkeep {
            runs.iter().for_each(|run| heads.forget(*run));
        }
        self.sweep(conn, &unneeded);
        Ok(Ok(Receipt { first: newest.unsigned_abs(), hooks: false }))
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

fn undo(statements: &mut Statements<'_>, reason: String) -> Result<Outcome, Stop> {
    statements.rollback().map_err(writing)?;
    Ok(Err(AppendError::Broken { reason }))
}
