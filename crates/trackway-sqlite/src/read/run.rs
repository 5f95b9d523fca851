//! The row of one run: verified by its checksum, and found even if the key of the table is damaged.

use rusqlite::{Connection, OptionalExtension as _, Row};
use trackway_domain::{Caller, RunId, Seq, StateName, Timestamp, WorkflowRef};
use trackway_ports::{ReadError, RunRow, StoredRun};

use crate::{
    checksum::{self, RUN_COLUMNS, RUN_COLUMNS_COUNT},
    error::read_error,
};

use super::{
    Source, Unreadable,
    events::{events, is_damage},
    leases::run_lease,
    parsed, scan,
};

/// A run, and the minimum length of its log when its row was written.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) row: RunRow,
    pub(super) head: Seq,
}

pub(super) fn run_sql(which: &str) -> String {
    format!("SELECT {RUN_COLUMNS}, crc FROM runs {which}")
}

pub(crate) fn run(conn: &Connection, run: RunId) -> Result<Option<RunRow>, ReadError> {
    Ok(known(conn, run)?.map(|known| known.row))
}

/// Everything that a run is loaded from.
pub(crate) fn stored_run(
    from: Source<'_>,
    run: RunId,
    limit: usize,
) -> Result<StoredRun, ReadError> {
    let events = events(from, run, 0, limit)?;
    let newest = events.last().map_or(0, |stored| stored.seq);
    // A caller that reads the rest finds out what is wrong with it.
    let is_whole = self::events(from, run, newest, 1).is_ok_and(|rest| rest.is_empty());
    let (row, lease) = (self::run(from.conn, run), run_lease(from.conn, run));
    Ok(StoredRun { events, is_whole, row, lease })
}

/// A run that has events has a row: where its key does not lead there, all rows are gone through.
pub(super) fn known(conn: &Connection, run: RunId) -> Result<Option<Known>, ReadError> {
    let damaged = |error: Unreadable| ReadError::Damaged {
        run,
        seq: 1,
        reason: format!("its row in the index of runs: {error}"),
    };
    match by_key(conn, run)? {
        Ok(Some(known)) => Ok(Some(known)),
        Ok(None) if !has_events(conn, run)? => Ok(None),
        Ok(None) => match scan::run(conn, run)? {
            Some(known) => Ok(Some(known)),
            None => Err(damaged(Unreadable::Content("it is missing".to_owned()))),
        },
        Err(error) => scan::run(conn, run)?.map(Some).ok_or_else(|| damaged(error)),
    }
}

/// The minimum length of the run's log, according to its row.
pub(super) fn least_head(conn: &Connection, run: RunId) -> Result<Seq, ReadError> {
    let found = by_key(conn, run)?;
    Ok(found.ok().flatten().map_or(0, |known| known.head))
}

/// The inner error is only about this row.
fn by_key(conn: &Connection, run: RunId) -> Result<Result<Option<Known>, Unreadable>, ReadError> {
    let mut statement = conn.prepare_cached(&run_sql("WHERE id = ?1")).map_err(read_error)?;
    let mut rows = statement.query([run.to_string()]).map_err(read_error)?;
    match rows.next() {
        Ok(None) => Ok(Ok(None)),
        Ok(Some(row)) => Ok(known_row(row).map(Some)),
        Err(error) if is_damage(&error) => Ok(Err(error.into())),
        Err(error) => Err(read_error(error)),
    }
}

fn has_events(conn: &Connection, run: RunId) -> Result<bool, ReadError> {
    let sql = "SELECT 1 FROM events WHERE run = ?1 LIMIT 1";
    let mut statement = conn.prepare_cached(sql).map_err(read_error)?;
    match statement.query_row([run.to_string()], |_| Ok(())).optional() {
        Ok(found) => Ok(found.is_some()),
        // There is a row, although it cannot be read.
        Err(error) if is_damage(&error) => Ok(true),
        Err(error) => Err(read_error(error)),
    }
}

pub(super) fn run_row(row: &Row<'_>) -> Result<RunRow, Unreadable> {
    Ok(known_row(row)?.row)
}

pub(super) fn known_row(row: &Row<'_>) -> Result<Known, Unreadable> {
    let columns = (0..RUN_COLUMNS_COUNT).map(|column| row.get_ref(column));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    if checksum::values(columns.into_iter()) != row.get::<_, u32>(RUN_COLUMNS_COUNT)? {
        return Err(Unreadable::Content("it does not match its checksum".to_owned()));
    }
    let text = |column| -> Result<&str, Unreadable> { Ok(row.get_ref(column)?.as_str()?) };
    let found = RunRow {
        id: parsed(row, 0)?,
        session: parsed(row, 1)?,
        caller: Caller::new(text(2)?, text(3)?),
        workflow: WorkflowRef { name: row.get(4)?, version: row.get(5)? },
        parent: match row.get_ref(6)?.as_str_or_null()? {
            Some(parent) => Some(parent.parse().map_err(Unreadable::content)?),
            None => None,
        },
        state: parsed::<StateName>(row, 7)?,
        runnable: row.get(8)?,
        parked: row.get(9)?,
        created_at: Timestamp::from_millis(row.get(10)?),
        status_at: Timestamp::from_millis(row.get(11)?),
    };
    Ok(Known { row: found, head: row.get::<_, i64>(12)?.unsigned_abs() })
}
