//! Reads who drives a run, and what a worker can claim.

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql};
use trackway_domain::{RunId, Timestamp};
use trackway_ports::{
    ClaimedRun, DueHook, DueTimer, Epoch, OutboxId, OutboxRow, ReadError, RunLease, WorkClaim, WorkerId,
};
use uuid::Uuid;

use crate::{json, sqlite_error::to_read_error};

use super::{RowError, hooks::decode_hook_row, parse_column, select_rows};

/// Workers that are alive at the given time, which is the second value of every claim.
const ALIVE: &str = "(SELECT id FROM workers WHERE until > ?2)";

/// A worker as stored.
pub(crate) fn stored_worker_key(worker: WorkerId) -> String {
    worker.0.simple().to_string()
}

pub(crate) fn find_run_lease(conn: &Connection, run: RunId) -> Result<Option<RunLease>, ReadError> {
    let sql = "SELECT epoch, driver FROM runs WHERE id = ?1";
    let mut statement = conn.prepare_cached(sql).map_err(to_read_error)?;
    let lease = statement.query_row([run.to_string()], |row| {
        let driver: Option<String> = row.get(1)?;
        Ok(RunLease { epoch: Epoch(row.get::<_, i64>(0)?.unsigned_abs()), driver: parse_worker_key(driver) })
    });
    lease.optional().map_err(to_read_error)
}

/// A damaged name counts as a dead worker.
pub(crate) fn parse_worker_key(key: Option<String>) -> Option<WorkerId> {
    key.map(|key| WorkerId(key.parse().unwrap_or(Uuid::nil())))
}

/// The condition has the same text as in the index, so that SQLite uses the index.
pub(super) fn claimable_runs_sql() -> String {
    format!(
        "SELECT id, epoch FROM runs
         WHERE (runnable = 1 OR parked = 1)
           AND (driver IS NULL OR (driver <> ?1 AND driver NOT IN {ALIVE}))
         ORDER BY id"
    )
}

pub(crate) fn list_claimable_runs(conn: &Connection, claim: WorkClaim) -> Result<Vec<ClaimedRun>, ReadError> {
    select_claimable_rows(conn, "run", &claimable_runs_sql(), claim, &[], |row| {
        let epoch = Epoch(row.get::<_, i64>(1)?.unsigned_abs());
        Ok(ClaimedRun { run: parse_column(row, 0)?, epoch })
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

pub(super) fn decode_errand_row(row: &Row<'_>) -> Result<OutboxRow, RowError> {
    Ok(OutboxRow {
        id: OutboxId(parse_column::<Uuid>(row, 0)?),
        item: json::parse_json_text(row.get_ref(1)?.as_str()?).map_err(RowError::invalid_content)?,
    })
}

/// Rows without a claim of another live worker.
fn unclaimed_sql() -> String {
    format!("(worker IS NULL OR worker = ?1 OR worker NOT IN {ALIVE})")
}

pub(super) fn due_timers_sql() -> String {
    format!(
        "SELECT run, timer, due FROM timers WHERE due <= ?2 AND {}
         ORDER BY due, run, timer",
        unclaimed_sql()
    )
}

pub(crate) fn list_due_timers(conn: &Connection, claim: WorkClaim) -> Result<Vec<DueTimer>, ReadError> {
    select_claimable_rows(conn, "timer", &due_timers_sql(), claim, &[], |row| {
        Ok(DueTimer {
            run: parse_column(row, 0)?,
            timer: parse_column(row, 1)?,
            due: Timestamp::from_millis(row.get(2)?),
        })
    })
}

/// In the order of the index: a small limit reads only a few rows, plus those of excluded tenants.
pub(super) fn due_hooks_sql() -> String {
    format!(
        "SELECT run, id, target, delivered_through, due, failing_since, attempts,
                ifnull((SELECT tenant FROM runs WHERE runs.id = hooks.run), '') AS tenant
         FROM hooks
         WHERE due <= ?2 AND {} AND tenant NOT IN (SELECT value FROM json_each(?3))
         ORDER BY due, number",
        unclaimed_sql()
    )
}

pub(crate) fn list_due_hooks(
    conn: &Connection,
    claim: WorkClaim,
    except: &[String],
) -> Result<Vec<DueHook>, ReadError> {
    let except = json::to_json_text(&except);
    select_claimable_rows(conn, "hook", &due_hooks_sql(), claim, &[&except], |row| {
        Ok(DueHook { tenant: row.get(7)?, hook: decode_hook_row(row)? })
    })
}

fn select_claimable_rows<T>(
    conn: &Connection,
    what: &str,
    sql: &str,
    claim: WorkClaim,
    more: &[&dyn ToSql],
    read: impl Fn(&Row<'_>) -> Result<T, RowError>,
) -> Result<Vec<T>, ReadError> {
    let (worker, now) = (stored_worker_key(claim.worker), claim.now.millis());
    let first: [&dyn ToSql; 2] = [&worker, &now];
    let values = rusqlite::params_from_iter(first.iter().chain(more));
    select_rows(conn, what, sql, values, claim.limit, read)
}
