//! Reads the rows next to the log: listings of runs, timers, the outbox and claims.

use rusqlite::{Connection, Row, params, params_from_iter};
use trackway_domain::{Access, Caller, RunId, SessionId, Timestamp};
use trackway_ports::{MessageClaim, MessageClaimKey, OutboxId, OutboxRow, ReadError, RunFilter, RunRow};

use crate::{
    json, reader_pool::broken_store_read_error, sqlite_error::to_read_error, write_jobs::format_outbox_key,
};

use super::{
    RowReadError,
    lease_reads::decode_errand_row,
    parse_text_column,
    run_row_reads::{decode_run_row, select_run_sql},
    select_readable_rows, select_timestamp,
};

/// Sorts after every run id.
const AFTER_ALL_RUNS: &str = "run_~";

pub(crate) fn list_runs(
    conn: &Connection,
    filter: &RunFilter,
    before: Option<RunId>,
    limit: usize,
) -> Result<Vec<RunRow>, ReadError> {
    let before = before.map_or_else(|| AFTER_ALL_RUNS.to_owned(), |run| run.to_string());
    let (sql, values) = list_runs_sql(filter);
    let values = params_from_iter(std::iter::once(before).chain(values));
    select_readable_rows(conn, "run", &sql, values, limit, decode_run_row)
}

/// The SQL of the listing, and the values of the filter. The first value is the start of the listing.
pub(super) fn list_runs_sql(filter: &RunFilter) -> (String, Vec<String>) {
    let RunFilter { access, session, workflow, states } = filter;
    // The plus prevents SQLite from scanning all runs of a caller for those of one session.
    let (tenant_is, user_is) = match session {
        Some(_) => (" AND +tenant = ?", " AND +user = ?"),
        None => (" AND tenant = ?", " AND user = ?"),
    };
    let states = (!states.is_empty()).then(|| json::to_json_text(states));
    let parts = [
        (tenant_is, access.as_ref().map(|access| access.caller.tenant.to_string())),
        (user_is, access.as_ref().and_then(Access::only_covered_user).map(str::to_owned)),
        (" AND session = ?", session.as_ref().map(ToString::to_string)),
        (" AND workflow = ?", workflow.clone()),
        (" AND state IN (SELECT value FROM json_each(?))", states),
    ];
    let (condition, values): (String, Vec<String>) =
        parts.into_iter().filter_map(|(sql, value)| Some((sql, value?))).unzip();
    (select_run_sql(&format!("WHERE id < ?{condition} ORDER BY id DESC")), values)
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

pub(crate) fn list_waiting_runs(
    conn: &Connection,
    caller: &Caller,
    session: &SessionId,
    workflow: Option<&str>,
    limit: usize,
) -> Result<Vec<RunId>, ReadError> {
    let sql = workflow.map_or(WAITING, |_| WAITING_OF_WORKFLOW);
    let whose = [&*caller.tenant, &*caller.user, session.as_str()];
    let values = params_from_iter(whose.into_iter().chain(workflow));
    select_readable_rows(conn, "run", sql, values, limit, |row| parse_text_column(row, 0))
}

pub(crate) fn find_message_claim(
    conn: &Connection,
    key: MessageClaimKey,
) -> Result<Option<MessageClaim>, ReadError> {
    let mut statement = conn
        .prepare_cached(
            "SELECT run, digest, reply FROM claims
             WHERE tenant = ?1 AND user = ?2 AND message = ?3",
        )
        .map_err(to_read_error)?;
    let mut rows = statement
        .query(params![key.caller.tenant, key.caller.user, key.message.as_str()])
        .map_err(to_read_error)?;
    let Some(row) = rows.next().map_err(to_read_error)? else {
        return Ok(None);
    };
    let message = key.message.clone();
    decode_message_claim_row(row, key)
        .map(Some)
        .map_err(|error| broken_store_read_error(format!("the claim of message {message}: {error}")))
}

pub(crate) fn newest_event_time(conn: &Connection) -> Result<Option<Timestamp>, ReadError> {
    select_timestamp(conn, "SELECT at FROM events ORDER BY pos DESC LIMIT 1", [])
}

pub(crate) fn next_timer_due(conn: &Connection, now: Timestamp) -> Result<Option<Timestamp>, ReadError> {
    let sql = "SELECT due FROM timers WHERE due > ?1 ORDER BY due LIMIT 1";
    select_timestamp(conn, sql, [now.millis()])
}

pub(crate) fn list_outbox(
    conn: &Connection,
    after: Option<OutboxId>,
    limit: usize,
) -> Result<Vec<OutboxRow>, ReadError> {
    let sql = "SELECT id, body FROM outbox WHERE id > ?1 ORDER BY id";
    let after = after.map_or_else(String::new, format_outbox_key);
    select_readable_rows(conn, "outbox", sql, [after], limit, decode_errand_row)
}

fn decode_message_claim_row(row: &Row<'_>, key: MessageClaimKey) -> Result<MessageClaim, RowReadError> {
    Ok(MessageClaim {
        key,
        run: parse_text_column(row, 0)?,
        digest: row.get(1)?,
        reply: json::parse_json_text(row.get_ref(2)?.as_str()?).map_err(RowReadError::invalid_row_content)?,
    })
}
