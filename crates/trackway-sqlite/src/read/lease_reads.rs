//! Reads who drives a run, and what a worker can claim.

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql};
use trackway_domain::{RunId, Timestamp};
use trackway_ports::{
    ClaimedRun, DriverEpoch, DueHook, DueTimer, OutboxId, OutboxRow, ReadError, RunLease, WorkClaim, WorkerId,
};
use uuid::Uuid;

use crate::{json, sqlite_error::to_read_error};

use super::{RowReadError, hook_reads::decode_hook_row, parse_text_column, select_readable_rows};

/// Workers that are alive at the given time, which is the second value of every claim.
const ALIVE: &str = "(SELECT id FROM workers WHERE until > ?2)";

/// A worker as stored.
pub(crate) fn format_worker_key(worker: WorkerId) -> String {
    worker.0.simple().to_string()
}

pub(crate) fn find_run_lease(conn: &Connection, run: RunId) -> Result<Option<RunLease>, ReadError> {
    let sql = "SELECT epoch, driver FROM runs WHERE id = ?1";
    let mut statement = conn.prepare_cached(sql).map_err(to_read_error)?;
    let lease = statement.query_row([run.to_string()], |row| {
        let driver: Option<String> = row.get(1)?;
        Ok(RunLease {
            epoch: DriverEpoch(row.get::<_, i64>(0)?.unsigned_abs()),
            driver: parse_worker_key(driver),
        })
    });
    lease.optional().map_err(to_read_error)
}

/// A damaged name counts as a dead worker.
pub(crate) fn parse_worker_key(key: Option<String>) -> Option<WorkerId> {
    key.map(|key| WorkerId(key.parse().unwrap_or(Uuid::nil())))
}

/// The condition has the same text as in the index, so that SQLite uses the index.
pub(super) fn select_claimable_runs_sql() -> String {
    format!(
        "SELECT id, epoch FROM runs
         WHERE (runnable = 1 OR parked = 1)
           AND (driver IS NULL OR (driver <> ?1 AND driver NOT IN {ALIVE}))
         ORDER BY id"
    )
}

pub(crate) fn list_claimable_runs(conn: &Connection, claim: WorkClaim) -> Result<Vec<ClaimedRun>, ReadError> {
    select_claimable_rows(conn, "run", &select_claimable_runs_sql(), claim, &[], |row| {
        let epoch = DriverEpoch(row.get::<_, i64>(1)?.unsigned_abs());
        Ok(ClaimedRun { run: parse_text_column(row, 0)?, epoch })
    })
}

pub(crate) fn list_claimable_errands(
    conn: &Connection,
    claim: WorkClaim,
) -> Result<Vec<OutboxRow>, ReadError> {
    let sql = format!(
        "SELECT id, body FROM outbox
         WHERE worker IS NULL OR (worker <> ?1 AND worker NOT IN {ALIVE})
         ORDER BY id"
    );
    select_claimable_rows(conn, "outbox", &sql, claim, &[], decode_errand_row)
}

pub(super) fn decode_errand_row(row: &Row<'_>) -> Result<OutboxRow, RowReadError> {
    Ok(OutboxRow {
        id: OutboxId(parse_text_column::<Uuid>(row, 0)?),
        item: json::parse_json_text(row.get_ref(1)?.as_str()?).map_err(RowReadError::invalid_row_content)?,
    })
}

/// Rows without a claim of another live worker.
fn unclaimed_condition_sql() -> String {
    format!("(worker IS NULL OR worker = ?1 OR worker NOT IN {ALIVE})")
}

pub(super) fn select_due_timers_sql() -> String {
    format!(
        "SELECT run, timer, due FROM timers WHERE due <= ?2 AND {}
         ORDER BY due, run, timer",
        unclaimed_condition_sql()
    )
}

pub(crate) fn list_due_timers(conn: &Connection, claim: WorkClaim) -> Result<Vec<DueTimer>, ReadError> {
    select_claimable_rows(conn, "timer", &select_due_timers_sql(), claim, &[], |row| {
        Ok(DueTimer {
            run: parse_text_column(row, 0)?,
            timer: parse_text_column(row, 1)?,
            due: Timestamp::from_millis(row.get(2)?),
        })
    })
}

/// In the order of the index: a small limit reads only a few rows, plus those of excluded tenants.
pub(super) fn select_due_hooks_sql() -> String {
    format!(
        "SELECT run, id, target, delivered_through, due, failing_since, attempts,
                ifnull((SELECT tenant FROM runs WHERE runs.id = hooks.run), '') AS tenant
         FROM hooks
         WHERE due <= ?2 AND {} AND tenant NOT IN (SELECT value FROM json_each(?3))
         ORDER BY due, number",
        unclaimed_condition_sql()
    )
}

pub(crate) fn list_due_hooks(
    conn: &Connection,
    claim: WorkClaim,
    except: &[String],
) -> Result<Vec<DueHook>, ReadError> {
    let except = json::to_json_text(&except);
    select_claimable_rows(conn, "hook", &select_due_hooks_sql(), claim, &[&except], |row| {
        Ok(DueHook { tenant: row.get(7)?, hook: decode_hook_row(row)? })
    })
}

fn select_claimable_rows<T>(
    conn: &Connection,
    row_kind: &str,
    sql: &str,
    claim: WorkClaim,
    extra_values: &[&dyn ToSql],
    read: impl Fn(&Row<'_>) -> Result<T, RowReadError>,
) -> Result<Vec<T>, ReadError> {
    let (worker, now) = (format_worker_key(claim.worker), claim.now.millis());
    let first: [&dyn ToSql; 2] = [&worker, &now];
    let values = rusqlite::params_from_iter(first.iter().chain(extra_values));
    select_readable_rows(conn, row_kind, sql, values, claim.limit, read)
}
