//! Scans a whole table from its first page to its last, if a key finds nothing although it should.
//! The cost grows with the table, but only reads that meet damage pay it.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, Rows};
use trackway_domain::{RunId, Seq};
use trackway_ports::{ReadError, StoredEvent};

use crate::sqlite_error::to_read_error;

use super::{
    ReadSource, RowReadError,
    event_reads::{EVENT_COLUMNS, decode_event_row, is_damaged_page_error},
    run_row_reads::{VerifiedRunRow, decode_verified_run_row, select_run_sql},
};

/// Events in one scan: a few large ones do not take much memory.
const EVENTS_MAX: Seq = 256;

/// The run's undamaged events directly after that number.
pub(super) fn scan_table_for_events(
    read_source: ReadSource<'_>,
    run: RunId,
    after: Seq,
    limit: usize,
) -> Result<Vec<StoredEvent>, ReadError> {
    let last = after.saturating_add(EVENTS_MAX.min(limit as Seq));
    let (Ok(first), Ok(last)) = (i64::try_from(after), i64::try_from(last)) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT {EVENT_COLUMNS} FROM events NOT INDEXED
         WHERE run = ?1 AND seq > ?2 AND seq <= ?3"
    );
    let key = run.to_string();
    let mut statement = read_source.conn.prepare_cached(&sql).map_err(to_read_error)?;
    let rows = statement.query((&key, first, last)).map_err(to_read_error)?;
    let mut found = BTreeMap::new();
    let mut unavailable = None;
    for_each_reachable_row(rows, |row| match decode_event_row(row, read_source.blobs, &key) {
        Ok((stored, _)) => drop(found.entry(stored.seq).or_insert(stored)),
        Err(RowReadError::Unavailable(reason)) => unavailable = Some(reason),
        Err(_) => {}
    })?;
    if let Some(reason) = unavailable {
        return Err(ReadError::Unavailable { reason });
    }
    let behind = (after + 1..).map_while(|seq| found.remove(&seq));
    Ok(behind.collect())
}

/// The row of that run.
pub(super) fn scan_table_for_run(conn: &Connection, run: RunId) -> Result<Option<VerifiedRunRow>, ReadError> {
    let mut found = None;
    scan_all_run_rows(conn, |row| {
        found = found.take().or_else(|| row.ok().filter(|known| known.row.id == run));
    })?;
    Ok(found)
}

/// Passes the row of every run to the callback.
pub(super) fn scan_all_run_rows(
    conn: &Connection,
    mut visit_run_row: impl FnMut(Result<VerifiedRunRow, DamagedRunRow>),
) -> Result<(), ReadError> {
    // No index has all columns, so SQLite scans the table itself.
    let mut statement = conn.prepare_cached(&select_run_sql("NOT INDEXED")).map_err(to_read_error)?;
    let rows = statement.query([]).map_err(to_read_error)?;
    for_each_reachable_row(rows, |row| {
        visit_run_row(decode_verified_run_row(row).map_err(|error| DamagedRunRow::new(row, error)))
    })
}

/// A damaged row of the table of runs.
#[derive(Debug)]
pub(super) struct DamagedRunRow {
    /// The run that the row claims to belong to.
    pub(super) run: Option<RunId>,
}

impl DamagedRunRow {
    #[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
    fn new(row: &Row<'_>, error: RowReadError) -> Self {
        let id = row.get_ref(0).ok().and_then(|id| id.as_str().ok()?.parse().ok());
        tracing::error!(%error, run = ?id, "a damaged row of a run");
        Self { run: id }
    }
}

/// Passes each row to the callback, up to a damaged page: the pages after it cannot be reached this
/// way.
fn for_each_reachable_row(mut rows: Rows<'_>, mut visit_row: impl FnMut(&Row<'_>)) -> Result<(), ReadError> {
    loop {
        match rows.next() {
            Ok(Some(row)) => visit_row(row),
            Ok(None) => return Ok(()),
            Err(error) if is_damaged_page_error(&error) => {
                tracing::error!(%error, "a table cannot be scanned to its end");
                return Ok(());
            }
            Err(error) => return Err(to_read_error(error)),
        }
    }
}
