//! Reads the rows next to the log: listings of runs, timers, the outbox and claims.

use rusqlite::{Connection, Row, params, params_from_iter};
use trackway_domain::{Access, Caller, RunId, SessionId, Timestamp};
use trackway_ports::{Claim, ClaimKey, OutboxId, OutboxRow, ReadError, RunFilter, RunRow};

use crate::{error::read_error, json, prepared::outbox_key, readers::broken};

use super::{
    Unreadable,
    leases::errand_row,
    parsed,
    run::{run_row, run_sql},
    select, select_moment,
};

/// Sorts after every run id.
const AFTER_ALL_RUNS: &str = "run_~";

pub(crate) fn runs(
    conn: &Connection,
    filter: &RunFilter,
    before: Option<RunId>,
    limit: usize,
) -> Result<Vec<RunRow>, ReadError> {
    let before = before.map_or_else(|| AFTER_ALL_RUNS.to_owned(), |run| run.to_string());
    let (sql, values) = runs_sql(filter);
    let values = params_from_iter(std::iter::once(before).chain(values));
    select(conn, "run", &sql, values, limit, run_row)
}

/// The SQL of the listing, and the values of the filter. The first value is the start of the listing.
pub(super) fn runs_sql(filter: &RunFilter) -> (String, Vec<String>) {
    let RunFilter { access, session, workflow, states } = filter;
    // The plus prevents SQLite from scanning all runs of a caller for those of one session.
    let (tenant_is, user_is) = match session {
        Some(_) => (" AND +tenant = ?", " AND +user = ?"),
        None => (" AND tenant = ?", " AND user = ?"),
    };
    let states = (!states.is_empty()).then(|| json::to_text(states));
    let parts = [
        (tenant_is, access.as_ref().map(|access| access.caller.tenant.to_string())),
        (user_is, access.as_ref().and_then(Access::user).map(str::to_owned)),
        (" AND session = ?", session.as_ref().map(ToString::to_string)),
        (" AND workflow = ?", workflow.clone()),
        (" AND state IN (SELECT value FROM json_each(?))", states),
    ];
    let (condition, values): (String, Vec<String>) =
        parts.into_iter().filter_map(|(sql, value)| Some((sql, value?))).unzip();
    (run_sql(&format!("WHERE id < ?{condition} ORDER BY id DESC")), values)
}

/// The index is named, because SQLite would otherwise scan all runs of the session.
pub(super) const WAITING: &str = "SELECT id FROM runs INDEXED BY runs_waiting
     WHERE state IN ('input-required', 'auth-required')
       AND tenant = ?1 AND user = ?2 AND session = ?3
     ORDER BY id";

pub(super) const WAITING_OF_WORKFLOW: &str = "SELECT id FROM runs INDEXED BY runs_waiting
     WHERE state IN ('input-required', 'auth-required')
       AND tenant = ?1 AND user = ?2 AND session = ?3 AND workflow = ?4
     ORDER BY id";

pub(crate) fn waiting(
    conn: &Connection,
    caller: &Caller,
    session: &SessionId,
    workflow: Option<&str>,
    limit: usize,
) -> Result<Vec<RunId>, ReadError> {
    let sql = workflow.map_or(WAITING, |_| WAITING_OF_WORKFLOW);
    let whose = [&*caller.tenant, &*caller.user, session.as_str()];
    let values = params_from_iter(whose.into_iter().chain(workflow));
    select(conn, "run", sql, values, limit, |row| parsed(row, 0))
}

pub(crate) fn claim(conn: &Connection, key: ClaimKey) -> Result<Option<Claim>, ReadError> {
    let mut statement = conn
        .prepare_cached(
            "SELECT run, digest, reply FROM claims
             WHERE tenant = ?1 AND user = ?2 AND message = ?3",
        )
        .map_err(read_error)?;
    let mut rows = statement
        .query(params![key.caller.tenant, key.caller.user, key.message.as_str()])
        .map_err(read_error)?;
    let Some(row) = rows.next().map_err(read_error)? else {
        return Ok(None);
    };
    let message = key.message.clone();
    claim_row(row, key)
        .map(Some)
        .map_err(|error| broken(format!("the claim of message {message}: {error}")))
}

pub(crate) fn newest_time(conn: &Connection) -> Result<Option<Timestamp>, ReadError> {
    select_moment(conn, "SELECT at FROM events ORDER BY pos DESC LIMIT 1", [])
}

pub(crate) fn next_timer(
    conn: &Connection,
    now: Timestamp,
) -> Result<Option<Timestamp>, ReadError> {
    let sql = "SELECT due FROM timers WHERE due > ?1 ORDER BY due LIMIT 1";
    select_moment(conn, sql, [now.millis()])
}

pub(crate) fn outbox(
    conn: &Connection,
    after: Option<OutboxId>,
    limit: usize,
) -> Result<Vec<OutboxRow>, ReadError> {
    let sql = "SELECT id, body FROM outbox WHERE id > ?1 ORDER BY id";
    let after = after.map_or_else(String::new, outbox_key);
    select(conn, "outbox", sql, [after], limit, errand_row)
}

fn claim_row(row: &Row<'_>, key: ClaimKey) -> Result<Claim, Unreadable> {
    Ok(Claim {
        key,
        run: parsed(row, 0)?,
        digest: row.get(1)?,
        reply: json::from_text(row.get_ref(2)?.as_str()?).map_err(Unreadable::content)?,
    })
}
