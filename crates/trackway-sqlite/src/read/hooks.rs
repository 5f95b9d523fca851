//! Reading hooks.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use trackway_domain::{RunId, Timestamp};
use trackway_ports::{Hook, HookTarget, ReadError};

use crate::{error::read_error, json};

use super::{Unreadable, collect, parsed};

const HOOK: &str = "SELECT run, id, target, after, due, failing_since, attempts FROM hooks";

pub(crate) fn hook(conn: &Connection, run: RunId, id: &str) -> Result<Option<Hook>, ReadError> {
    let sql = format!("{HOOK} WHERE run = ?1 AND id = ?2");
    let mut statement = conn.prepare_cached(&sql).map_err(read_error)?;
    let rows = statement.query(params![run.to_string(), id]).map_err(read_error)?;
    Ok(collect("hook", rows, 1, hook_row)?.pop())
}

pub(crate) fn hooks(conn: &Connection, run: RunId) -> Result<Vec<Hook>, ReadError> {
    let sql = format!("{HOOK} WHERE run = ?1 ORDER BY number");
    let mut statement = conn.prepare_cached(&sql).map_err(read_error)?;
    let rows = statement.query([run.to_string()]).map_err(read_error)?;
    collect("hook", rows, usize::MAX, hook_row)
}

pub(super) const NEXT: &str = "SELECT due FROM hooks WHERE due > ?1 ORDER BY due LIMIT 1";

pub(crate) fn next_hook(conn: &Connection, now: Timestamp) -> Result<Option<Timestamp>, ReadError> {
    conn.prepare_cached(NEXT)
        .and_then(|mut statement| statement.query_row([now.millis()], |row| row.get(0)).optional())
        .map(|due| due.map(Timestamp::from_millis))
        .map_err(read_error)
}

pub(super) fn hook_row(row: &Row<'_>) -> Result<Hook, Unreadable> {
    let moment = |column| -> Result<Option<Timestamp>, Unreadable> {
        Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
    };
    let after: i64 = row.get(3)?;
    Ok(Hook {
        run: parsed(row, 0)?,
        id: row.get(1)?,
        // What cannot be read is not named: the text may hold a secret.
        target: json::from_text(row.get_ref(2)?.as_str()?)
            .map(HookTarget)
            .map_err(|_| Unreadable::Content("its target is damaged".to_owned()))?,
        after: u64::try_from(after).map_err(Unreadable::content)?,
        due: moment(4)?,
        failing_since: moment(5)?,
        attempts: row.get(6)?,
    })
}
