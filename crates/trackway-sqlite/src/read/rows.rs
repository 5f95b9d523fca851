//! Reading what is kept beside the log: listings of runs, timers, the outbox and claims.

use std::fmt::Write as _;

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};
use trackway_domain::{Access, Caller, RunId, SessionId, Timestamp};
use trackway_ports::{Claim, ClaimKey, OutboxId, OutboxRow, ReadError, RunFilter, RunRow};

use crate::{error::read_error, json, prepared::outbox_key, readers::broken};

use super::{
    Unreadable, collect,
    leases::errand_row,
    parsed,
    run::{run_row, run_sql},
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
    let session = filter.session.as_ref().map(SessionId::as_str);
    let states = (!filter.states.is_empty()).then(|| json::to_text(&filter.states));
    let tenant = filter.access.as_ref().map(|access| &access.caller.tenant);
    let user = filter.access.as_ref().and_then(Access::user);
    let values = [Some(&before as &dyn ToSql)]
        .into_iter()
        .chain([
            tenant.as_ref().map(|value| value as _),
            user.as_ref().map(|value| value as _),
            session.as_ref().map(|value| value as _),
            filter.workflow.as_ref().map(|value| value as _),
            states.as_ref().map(|value| value as _),
        ])
        .flatten();
    let mut statement = conn.prepare_cached(&runs_sql(filter)).map_err(read_error)?;
    let rows = statement.query(rusqlite::params_from_iter(values)).map_err(read_error)?;
    collect("run", rows, limit, run_row)
}

/// The listing's SQL. Its values: where to begin, then those of the filter in the order of its fields.
pub(super) fn runs_sql(filter: &RunFilter) -> String {
    let mut sql = run_sql("WHERE id < ?");
    // The plus keeps SQLite from walking through all runs of a caller for those of one session.
    let plus = if filter.session.is_some() { "+" } else { "" };
    if let Some(access) = &filter.access {
        let _ = write!(sql, " AND {plus}tenant = ?");
        if access.user().is_some() {
            let _ = write!(sql, " AND {plus}user = ?");
        }
    }
    if filter.session.is_some() {
        sql.push_str(" AND session = ?");
    }
    if filter.workflow.is_some() {
        sql.push_str(" AND workflow = ?");
    }
    if !filter.states.is_empty() {
        sql.push_str(" AND state IN (SELECT value FROM json_each(?))");
    }
    sql.push_str(" ORDER BY id DESC");
    sql
}

/// The index is named, since SQLite would rather walk through all runs of the session.
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
    let mut statement = conn.prepare_cached(sql).map_err(read_error)?;
    let (tenant, user, session) = (&caller.tenant, &caller.user, session.as_str());
    let rows = match workflow {
        Some(workflow) => statement.query(params![tenant, user, session, workflow]),
        None => statement.query(params![tenant, user, session]),
    };
    collect("run", rows.map_err(read_error)?, limit, |row| parsed(row, 0))
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

/// The condition is written as in the index, so that SQLite sees that the index serves.
pub(super) const RUNNABLE: &str =
    "SELECT id FROM runs WHERE (runnable = 1 OR parked = 1) AND id > ?1 ORDER BY id";

pub(crate) fn runnable(
    conn: &Connection,
    after: Option<RunId>,
    limit: usize,
) -> Result<Vec<RunId>, ReadError> {
    let mut statement = conn.prepare_cached(RUNNABLE).map_err(read_error)?;
    let after = after.map_or_else(String::new, |run| run.to_string());
    let rows = statement.query([after]).map_err(read_error)?;
    collect("run", rows, limit, |row| parsed(row, 0))
}

pub(crate) fn newest_time(conn: &Connection) -> Result<Option<Timestamp>, ReadError> {
    conn.prepare_cached("SELECT at FROM events ORDER BY pos DESC LIMIT 1")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)).optional())
        .map(|at| at.map(Timestamp::from_millis))
        .map_err(read_error)
}

pub(crate) fn next_timer(
    conn: &Connection,
    now: Timestamp,
) -> Result<Option<Timestamp>, ReadError> {
    conn.prepare_cached("SELECT due FROM timers WHERE due > ?1 ORDER BY due LIMIT 1")
        .and_then(|mut statement| statement.query_row([now.millis()], |row| row.get(0)).optional())
        .map(|due| due.map(Timestamp::from_millis))
        .map_err(read_error)
}

pub(crate) fn outbox(
    conn: &Connection,
    after: Option<OutboxId>,
    limit: usize,
) -> Result<Vec<OutboxRow>, ReadError> {
    let mut statement = conn
        .prepare_cached("SELECT id, body FROM outbox WHERE id > ?1 ORDER BY id")
        .map_err(read_error)?;
    let after = after.map_or_else(String::new, outbox_key);
    let rows = statement.query([after]).map_err(read_error)?;
    collect("outbox", rows, limit, errand_row)
}

fn claim_row(row: &Row<'_>, key: ClaimKey) -> Result<Claim, Unreadable> {
    Ok(Claim {
        key,
        run: parsed(row, 0)?,
        digest: row.get(1)?,
        reply: json::from_text(row.get_ref(2)?.as_str()?).map_err(Unreadable::content)?,
    })
}
