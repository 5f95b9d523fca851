//! The reads of the port. Damage is contained: a record that cannot be read ends the list of its own run,
//! and an index row that cannot be read is omitted from listings and logged.
//!
//! A damaged key can lead a search to the wrong rows. Therefore the checksum of every row proves which run
//! it belongs to. If a row is not found although another table says that it must exist, the whole table is
//! scanned (`scan`), which needs no key.

mod by_status;
mod events;
mod feed;
mod guided;
mod hooks;
mod leases;
mod lineage;
mod rows;
mod run;
mod scan;
mod sessions;

use rusqlite::{Connection, OptionalExtension as _, Params, Row, types::FromSqlError};
use trackway_domain::Timestamp;
use trackway_ports::ReadError;

use crate::{FolderBlobs, error::read_error};

pub(crate) use self::{
    by_status::runs_by_status,
    events::{events, events_after_pos, is_damage, receipt},
    feed::feed,
    guided::{asked, attempt, node, pinned},
    hooks::{hooks, next_hook},
    leases::{due_hooks, due_timers, free_errands, free_runs, run_lease, worker, worker_key},
    lineage::{lineage, newest_events},
    rows::{claim, newest_time, next_timer, outbox, runs, waiting},
    run::{run, stored_run},
    sessions::{session_runs, sessions},
};

/// The source of a read: a connection, and the blobs of the same folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) blobs: &'a FolderBlobs,
}

/// Why one row could not be read.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Value(#[from] FromSqlError),
    #[error("{0}")]
    Content(String),
    /// No known damage: it could not be read now.
    #[error("{0}")]
    Unavailable(String),
}

impl Unreadable {
    #[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
    fn content(error: impl ToString) -> Self {
        Self::Content(error.to_string())
    }

    /// Damage is permanent; a failed access is not damage.
    fn blob(error: ReadError) -> Self {
        match error {
            ReadError::Unavailable { reason } => Self::Unavailable(reason),
            damaged => Self::Content(damaged.to_string()),
        }
    }
}

/// The rows of a statement, until there are `limit` good ones. A row that cannot be read is logged and
/// omitted.
fn select<T>(
    conn: &Connection,
    what: &str,
    sql: &str,
    values: impl Params,
    limit: usize,
    read: impl Fn(&Row<'_>) -> Result<T, Unreadable>,
) -> Result<Vec<T>, ReadError> {
    let mut statement = conn.prepare_cached(sql).map_err(read_error)?;
    let mut rows = statement.query(values).map_err(read_error)?;
    let mut found = Vec::new();
    while found.len() < limit {
        let Some(row) = rows.next().map_err(read_error)? else {
            break;
        };
        match read(row) {
            Ok(value) => found.push(value),
            Err(error) => tracing::error!(%error, what, "a damaged row is omitted"),
        }
    }
    Ok(found)
}

/// The one timestamp that a statement finds.
fn select_moment(
    conn: &Connection,
    sql: &str,
    values: impl Params,
) -> Result<Option<Timestamp>, ReadError> {
    conn.prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(values, |row| row.get(0)).optional())
        .map(|moment| moment.map(Timestamp::from_millis))
        .map_err(read_error)
}

/// A column's text, parsed.
fn parsed<T>(row: &Row<'_>, column: usize) -> Result<T, Unreadable>
where
    T: std::str::FromStr,
    T::Err: ToString,
{
    row.get_ref(column)?.as_str()?.parse().map_err(Unreadable::content)
}

#[cfg(test)]
mod tests;
