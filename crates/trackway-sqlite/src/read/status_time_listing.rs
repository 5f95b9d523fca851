//! Lists the runs that a caller may see by the time of their status.

use rusqlite::{Connection, params_from_iter, types::Value};
use trackway_ports::{ReadError, RunPage, StatusTimeQuery};

use crate::sqlite_error::to_read_error;

use super::{
    run_row_reads::{decode_run_row, select_run_sql},
    select_readable_rows,
};

/// A page and the count of all matches, from the same snapshot.
pub(crate) fn list_runs_by_status_time(
    conn: &Connection,
    query: &StatusTimeQuery,
) -> Result<RunPage, ReadError> {
    let (mut condition, mut values) = status_time_condition_sql(query);
    let moment = conn.unchecked_transaction().map_err(to_read_error)?;
    let total: i64 = moment
        .prepare_cached(&count_matching_runs_sql(&condition))
        .and_then(|mut statement| statement.query_row(params_from_iter(&values), |row| row.get(0)))
        .map_err(to_read_error)?;
    if let Some(after) = query.after {
        condition.push_str(AFTER_CURSOR);
        values.push(Value::Integer(after.status_at.millis()));
        values.push(Value::Text(after.id.to_string()));
    }
    let (sql, values) = (select_runs_page_sql(&condition), params_from_iter(&values));
    let rows = select_readable_rows(&moment, "run", &sql, values, query.limit, decode_run_row)?;
    Ok(RunPage { rows, total: total.unsigned_abs() })
}

/// After the end of the last page.
pub(super) const AFTER_CURSOR: &str = " AND (status_at, id) < (?, ?)";

pub(super) fn count_matching_runs_sql(condition: &str) -> String {
    format!("SELECT count(*) FROM runs WHERE {condition}")
}

pub(super) fn select_runs_page_sql(condition: &str) -> String {
    select_run_sql(&format!("WHERE {condition} ORDER BY status_at DESC, id DESC"))
}

/// The condition of the query for all pages, and its values.
pub(super) fn status_time_condition_sql(query: &StatusTimeQuery) -> (String, Vec<Value>) {
    let StatusTimeQuery { access, session, workflow, state, since, after: _, limit: _ } = query;
    let text = |text: &str| Value::Text(text.to_owned());
    // The plus prevents SQLite from scanning all runs of a caller for those of one session.
    let (tenant_is, user_is) = match session {
        Some(_) => ("+tenant = ?", " AND +user = ?"),
        None => ("tenant = ?", " AND user = ?"),
    };
    let parts = [
        (tenant_is, Some(text(&access.caller.tenant))),
        (user_is, access.only_covered_user().map(text)),
        (" AND session = ?", session.as_ref().map(|session| text(session.as_str()))),
        (" AND workflow = ?", workflow.as_deref().map(text)),
        (" AND state = ?", state.map(|state| text(state.as_str()))),
        (" AND status_at >= ?", since.map(|since| Value::Integer(since.millis()))),
    ];
    parts.into_iter().filter_map(|(sql, value)| Some((sql, value?))).unzip()
}
