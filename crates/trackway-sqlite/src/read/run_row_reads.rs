//! The row of one run: verified by its checksum, and found even if the key of the table is damaged.

use rusqlite::{Connection, OptionalExtension as _, Row};
use trackway_domain::{Caller, RunId, Seq, StateName, Timestamp, WorkflowRef};
use trackway_ports::{ReadError, RunRow, StoredRun};

use crate::{
    checksum::{self, RUN_COLUMNS, RUN_COLUMNS_COUNT},
    sqlite_error::to_read_error,
};

use super::{
    ReadSource, RowReadError,
    event_reads::{is_damaged_page_error, list_events},
    lease_reads::find_run_lease,
    parse_text_column, table_scan,
};

/// A run, and the minimum length of its log when its row was written.
#[derive(Debug)]
pub(super) struct VerifiedRunRow {
    pub(super) row: RunRow,
    pub(super) head: Seq,
}

pub(super) fn select_run_sql(where_clause: &str) -> String {
    format!("SELECT {RUN_COLUMNS}, crc FROM runs {where_clause}")
}

pub(crate) fn find_run(conn: &Connection, run: RunId) -> Result<Option<RunRow>, ReadError> {
    Ok(find_verified_run_row(conn, run)?.map(|known| known.row))
}

/// Everything that a run is loaded from.
pub(crate) fn load_stored_run(
    read_source: ReadSource<'_>,
    run: RunId,
    limit: usize,
) -> Result<StoredRun, ReadError> {
    let events = list_events(read_source, run, 0, limit)?;
    let newest = events.last().map_or(0, |stored| stored.seq);
    // A caller that reads the rest finds out what is wrong with it.
    let is_whole = self::list_events(read_source, run, newest, 1).is_ok_and(|rest| rest.is_empty());
    let (row, lease) = (self::find_run(read_source.conn, run), find_run_lease(read_source.conn, run));
    Ok(StoredRun { events, is_whole, row, lease })
}

/// A run that has events has a row. If its key does not lead there, all rows are scanned.
pub(super) fn find_verified_run_row(
    conn: &Connection,
    run: RunId,
) -> Result<Option<VerifiedRunRow>, ReadError> {
    let damaged = |error: RowReadError| ReadError::Damaged {
        run,
        seq: 1,
        reason: format!("its row in the index of runs: {error}"),
    };
    match find_run_row_by_key(conn, run)? {
        Ok(Some(known)) => Ok(Some(known)),
        Ok(None) if !has_events_in_log(conn, run)? => Ok(None),
        Ok(None) => match table_scan::scan_table_for_run(conn, run)? {
            Some(known) => Ok(Some(known)),
            None => Err(damaged(RowReadError::Content("it is missing".to_owned()))),
        },
        Err(error) => table_scan::scan_table_for_run(conn, run)?.map(Some).ok_or_else(|| damaged(error)),
    }
}

/// The minimum length of the run's log, according to its row.
pub(super) fn recorded_log_length(conn: &Connection, run: RunId) -> Result<Seq, ReadError> {
    let found = find_run_row_by_key(conn, run)?;
    Ok(found.ok().flatten().map_or(0, |known| known.head))
}

/// The inner error is only about this row.
fn find_run_row_by_key(
    conn: &Connection,
    run: RunId,
) -> Result<Result<Option<VerifiedRunRow>, RowReadError>, ReadError> {
    let mut statement = conn.prepare_cached(&select_run_sql("WHERE id = ?1")).map_err(to_read_error)?;
    let mut rows = statement.query([run.to_string()]).map_err(to_read_error)?;
    match rows.next() {
        Ok(None) => Ok(Ok(None)),
        Ok(Some(row)) => Ok(decode_verified_run_row(row).map(Some)),
        Err(error) if is_damaged_page_error(&error) => Ok(Err(error.into())),
        Err(error) => Err(to_read_error(error)),
    }
}

fn has_events_in_log(conn: &Connection, run: RunId) -> Result<bool, ReadError> {
    let sql = "SELECT 1 FROM events WHERE run = ?1 LIMIT 1";
    let mut statement = conn.prepare_cached(sql).map_err(to_read_error)?;
    match statement.query_row([run.to_string()], |_| Ok(())).optional() {
        Ok(found) => Ok(found.is_some()),
        // There is a row, although it cannot be read.
        Err(error) if is_damaged_page_error(&error) => Ok(true),
        Err(error) => Err(to_read_error(error)),
    }
}

pub(super) fn decode_run_row(row: &Row<'_>) -> Result<RunRow, RowReadError> {
    Ok(decode_verified_run_row(row)?.row)
}

pub(super) fn decode_verified_run_row(row: &Row<'_>) -> Result<VerifiedRunRow, RowReadError> {
    let columns = (0..RUN_COLUMNS_COUNT).map(|column| row.get_ref(column));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    if checksum::checksum_of_row_values(columns.into_iter()) != row.get::<_, u32>(RUN_COLUMNS_COUNT)? {
        return Err(RowReadError::Content("it does not match its checksum".to_owned()));
    }
    let text = |column| -> Result<&str, RowReadError> { Ok(row.get_ref(column)?.as_str()?) };
    let found = RunRow {
        id: parse_text_column(row, 0)?,
        session: parse_text_column(row, 1)?,
        caller: Caller::new(text(2)?, text(3)?),
        workflow: WorkflowRef { name: row.get(4)?, version: row.get(5)? },
        parent: match row.get_ref(6)?.as_str_or_null()? {
            Some(parent) => Some(parent.parse().map_err(RowReadError::invalid_row_content)?),
            None => None,
        },
        state: parse_text_column::<StateName>(row, 7)?,
        runnable: row.get(8)?,
        parked: row.get(9)?,
        created_at: Timestamp::from_millis(row.get(10)?),
        status_at: Timestamp::from_millis(row.get(11)?),
    };
    Ok(VerifiedRunRow { row: found, head: row.get::<_, i64>(12)?.unsigned_abs() })
}
