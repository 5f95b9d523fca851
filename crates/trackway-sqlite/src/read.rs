//! The reads of the port. Damage is contained: a record that cannot be read ends the list of its own run,
//! and an index row that cannot be read is omitted from listings and logged.
//!
//! A damaged key can lead a search to the wrong rows. Therefore the checksum of every row proves which run
//! it belongs to. If a row is not found although another table says that it must exist, the whole table is
//! scanned (`table_scan`), which needs no key.

mod artifact_reads;
mod event_reads;
mod feed_reads;
mod guided_index_reads;
mod hook_reads;
mod index_row_reads;
mod lease_reads;
mod lineage_reads;
mod run_row_reads;
mod session_reads;
mod status_time_listing;
mod table_scan;

use rusqlite::{Connection, OptionalExtension as _, Params, Row, types::FromSqlError};
use trackway_domain::Timestamp;
use trackway_ports::ReadError;

use crate::{FolderBlobStore, sqlite_error::to_read_error};

pub(crate) use self::{
    artifact_reads::{find_artifact_version, list_artifact_versions, list_newest_artifact_versions},
    event_reads::{find_receipt, is_damaged_page_error, list_events, list_events_after_position},
    feed_reads::list_feed,
    guided_index_reads::{find_attempt, find_definition, find_node, find_node_and_attempt},
    hook_reads::{list_hooks, next_hook_due},
    index_row_reads::{
        find_message_claim, list_outbox, list_runs, list_waiting_runs, newest_event_time, next_timer_due,
    },
    lease_reads::{
        find_run_lease, format_worker_key, list_claimable_errands, list_claimable_runs, list_due_hooks,
        list_due_timers, parse_worker_key,
    },
    lineage_reads::{list_newest_events, load_lineage},
    run_row_reads::{find_run, load_stored_run},
    session_reads::{list_session_runs, list_sessions},
    status_time_listing::list_runs_by_status_time,
};

/// The source of a read: a connection, and the blobs of the same folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadSource<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) blobs: &'a FolderBlobStore,
}

/// Why one row could not be read.
#[derive(Debug, thiserror::Error)]
enum RowReadError {
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

impl RowReadError {
    #[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
    fn invalid_row_content(error: impl ToString) -> Self {
        Self::Content(error.to_string())
    }

    /// Damage is permanent; a failed access is not damage.
    fn from_blob_error(error: ReadError) -> Self {
        match error {
            ReadError::Unavailable { reason } => Self::Unavailable(reason),
            damaged => Self::Content(damaged.to_string()),
        }
    }
}

/// The rows of a statement, until there are `limit` good ones. A row that cannot be read is logged and
/// omitted.
fn select_readable_rows<T>(
    conn: &Connection,
    row_kind: &str,
    sql: &str,
    values: impl Params,
    limit: usize,
    read: impl Fn(&Row<'_>) -> Result<T, RowReadError>,
) -> Result<Vec<T>, ReadError> {
    let mut statement = conn.prepare_cached(sql).map_err(to_read_error)?;
    let mut rows = statement.query(values).map_err(to_read_error)?;
    let mut found = Vec::new();
    while found.len() < limit {
        let Some(row) = rows.next().map_err(to_read_error)? else {
            break;
        };
        match read(row) {
            Ok(value) => found.push(value),
            Err(error) => tracing::error!(%error, row_kind, "a damaged row is omitted"),
        }
    }
    Ok(found)
}

/// The one timestamp that a statement finds.
fn select_timestamp(
    conn: &Connection,
    sql: &str,
    values: impl Params,
) -> Result<Option<Timestamp>, ReadError> {
    conn.prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(values, |row| row.get(0)).optional())
        .map(|moment| moment.map(Timestamp::from_millis))
        .map_err(to_read_error)
}

/// A column's text, parsed.
fn parse_text_column<T>(row: &Row<'_>, column: usize) -> Result<T, RowReadError>
where
    T: std::str::FromStr,
    T::Err: ToString,
{
    row.get_ref(column)?.as_str()?.parse().map_err(RowReadError::invalid_row_content)
}

#[cfg(test)]
mod tests;
