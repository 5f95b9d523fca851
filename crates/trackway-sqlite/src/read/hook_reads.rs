//! Reading hooks.

use rusqlite::{Connection, Row};
use trackway_domain::{RunId, Timestamp};
use trackway_ports::{Hook, HookTarget, ReadError};

use crate::json;

use super::{RowReadError, parse_text_column, select_readable_rows, select_timestamp};

const HOOKS: &str = "SELECT run, id, target, delivered_through, due, failing_since, attempts FROM hooks
     WHERE run = ?1 ORDER BY number";

pub(crate) fn list_hooks(conn: &Connection, run: RunId) -> Result<Vec<Hook>, ReadError> {
    select_readable_rows(conn, "hook", HOOKS, [run.to_string()], usize::MAX, decode_hook_row)
}

pub(super) const NEXT: &str = "SELECT due FROM hooks WHERE due > ?1 ORDER BY due LIMIT 1";

pub(crate) fn next_hook_due(conn: &Connection, now: Timestamp) -> Result<Option<Timestamp>, ReadError> {
    select_timestamp(conn, NEXT, [now.millis()])
}

pub(super) fn decode_hook_row(row: &Row<'_>) -> Result<Hook, RowReadError> {
    let moment = |column| -> Result<Option<Timestamp>, RowReadError> {
        Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
    };
    let delivered_through: i64 = row.get(3)?;
    Ok(Hook {
        run: parse_text_column(row, 0)?,
        id: row.get(1)?,
        // The error does not contain the text, because the text may hold a secret.
        target: json::parse_json_text(row.get_ref(2)?.as_str()?)
            .map(HookTarget)
            .map_err(|_| RowReadError::Content("its target is damaged".to_owned()))?,
        delivered_through: u64::try_from(delivered_through).map_err(RowReadError::invalid_row_content)?,
        due: moment(4)?,
        failing_since: moment(5)?,
        attempts: row.get(6)?,
    })
}
