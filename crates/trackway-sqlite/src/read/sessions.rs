//! Listing a caller's sessions.

use std::{cmp::Reverse, collections::BTreeMap};

use rusqlite::{Connection, OptionalExtension as _, params};
use trackway_domain::{Caller, SessionId, Timestamp};
use trackway_ports::{ReadError, SessionRow};

use crate::readers::broken;

use super::{collect, events::is_damage, parsed};

pub(super) const RUNS_OF_CALLER: &str = "SELECT session, id, created_at, status_at FROM runs
     WHERE tenant = ?1 AND user = ?2";

pub(super) const LAST_TIME: &str = "SELECT at FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";

struct Run {
    session: SessionId,
    id: String,
    created_at: Timestamp,
    status_at: Timestamp,
}

/// Walks through all runs of the caller: this is for a person who asks now and then, and a row per
/// session that is up to date would be paid for by every append. Of one moment, so that no run counts
/// with the events of another moment.
pub(crate) fn sessions(
    conn: &Connection,
    caller: &Caller,
    limit: usize,
) -> Result<Vec<SessionRow>, ReadError> {
    let moment = conn.unchecked_transaction().map_err(broken)?;
    let mut statement = moment.prepare_cached(RUNS_OF_CALLER).map_err(broken)?;
    let rows = statement.query(params![caller.tenant, caller.user]).map_err(broken)?;
    let runs = collect("run", rows, usize::MAX, |row| {
        Ok(Run {
            session: parsed(row, 0)?,
            id: row.get(1)?,
            created_at: Timestamp::from_millis(row.get(2)?),
            status_at: Timestamp::from_millis(row.get(3)?),
        })
    })?;
    let mut found = BTreeMap::<SessionId, SessionRow>::new();
    for run in runs {
        let updated_at = last_time(&moment, &run.id)?.unwrap_or(run.status_at);
        let session = found.entry(run.session.clone()).or_insert_with(|| SessionRow {
            id: run.session,
            runs: 0,
            created_at: run.created_at,
            updated_at,
        });
        session.runs += 1;
        session.created_at = session.created_at.min(run.created_at);
        session.updated_at = session.updated_at.max(updated_at);
    }
    let mut found: Vec<SessionRow> = found.into_values().collect();
    found.sort_by_key(|session| Reverse(session.updated_at));
    found.truncate(limit);
    Ok(found)
}

/// When the run's newest event was recorded. None where it has none, or it cannot be read: damage in one
/// run does not hide the sessions of others.
fn last_time(conn: &Connection, run: &str) -> Result<Option<Timestamp>, ReadError> {
    let mut statement = conn.prepare_cached(LAST_TIME).map_err(broken)?;
    match statement.query_row([run], |row| row.get(0)).optional() {
        Ok(at) => Ok(at.map(Timestamp::from_millis)),
        Err(error) if is_damage(&error) || error.sqlite_error().is_none() => Ok(None),
        Err(error) => Err(broken(error)),
    }
}
