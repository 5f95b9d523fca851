//! Reading guided runs through their index. An index row only leads to an event: whether the event is the
//! one that was asked for, the event itself says. So a damaged row is as good as none, and never leads to
//! what belongs to somebody else.

use rusqlite::{Connection, OptionalExtension as _, Params, Row};
use trackway_domain::{NodeId, RunId, Seq};
use trackway_ports::{AttemptKey, NodePlace, ReadError, Stored, attempt_of, node_of};

use crate::{FolderBlobs, readers::broken};

use super::{Unreadable, events::events, events::is_damage, rows::run as run_of};

pub(super) const NODE: &str = "SELECT seq, branches FROM nodes WHERE run = ?1 AND node = ?2";

pub(super) const ATTEMPT: &str = "SELECT seq FROM attempts
     WHERE run = ?1 AND node = ?2 AND ack = ?3 AND digest = ?4";

/// The run's newest event, from the index alone.
pub(super) const HEAD: &str = "SELECT seq FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";

/// Everything is of one moment, so that an append that goes by it meets no surprise but a conflict.
pub(crate) fn node(
    conn: &Connection,
    blobs: &FolderBlobs,
    run: RunId,
    node: NodeId,
) -> Result<Option<NodePlace>, ReadError> {
    let moment = conn.unchecked_transaction().map_err(broken)?;
    let key = (run.to_string(), node.to_string());
    let place = indexed(&moment, NODE, key, |row| {
        let branches: i64 = row.get(1)?;
        Ok((seq_of(row)?, u32::try_from(branches).map_err(Unreadable::content)?))
    })?;
    let Some((seq, branches)) = place else { return Ok(None) };
    let made = event(&moment, blobs, run, seq)?;
    let Some(made) = made.filter(|made| node_of(&made.event).is_some_and(|it| it.id == node))
    else {
        return Ok(None);
    };
    let Some(row) = run_of(&moment, run)? else { return Ok(None) };
    let head = head(&moment, run)?;
    Ok(Some(NodePlace { made, head, row, branches }))
}

pub(crate) fn attempt(
    conn: &Connection,
    blobs: &FolderBlobs,
    key: &AttemptKey,
) -> Result<Option<Stored>, ReadError> {
    let AttemptKey { run, node, ack, digest } = key;
    let moment = conn.unchecked_transaction().map_err(broken)?;
    let values = (run.to_string(), node.to_string(), ack.to_string(), digest);
    let Some(seq) = indexed(&moment, ATTEMPT, values, seq_of)? else { return Ok(None) };
    let found = event(&moment, blobs, *run, seq)?;
    Ok(found.filter(|found| {
        attempt_of(&found.event)
            .is_some_and(|it| it.node == *node && it.ack == *ack && it.digest == *digest)
    }))
}

pub(crate) fn pinned(conn: &Connection, hash: &str) -> Result<Option<String>, ReadError> {
    let found = conn.prepare_cached("SELECT crc, body FROM definitions WHERE hash = ?1").and_then(
        |mut statement| {
            let read = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?));
            statement.query_row([hash], read).optional()
        },
    );
    let damaged = |reason: String| {
        let hash = hash.to_owned();
        Err(ReadError::DamagedBlob { hash, reason })
    };
    match found {
        Ok(Some((crc, body))) if crc == crc32fast::hash(body.as_bytes()) => Ok(Some(body)),
        Ok(Some(_)) => damaged("the definition does not match its checksum".to_owned()),
        Ok(None) => Ok(None),
        // The connection is good; what it read is not.
        Err(error) if is_damage(&error) || error.sqlite_error().is_none() => {
            damaged(error.to_string())
        }
        Err(error) => Err(broken(error)),
    }
}

/// The one row that an index has for these values. One that cannot be read is logged and is none.
fn indexed<T>(
    conn: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Unreadable>,
) -> Result<Option<T>, ReadError> {
    let mut statement = conn.prepare_cached(sql).map_err(broken)?;
    let mut rows = statement.query(values).map_err(broken)?;
    let found = match rows.next() {
        Ok(None) => return Ok(None),
        Ok(Some(row)) => read(row),
        Err(error) if is_damage(&error) => Err(error.into()),
        Err(error) => return Err(broken(error)),
    };
    match found {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            tracing::error!(%error, "a damaged row of the index of guided runs is left out");
            Ok(None)
        }
    }
}

fn seq_of(row: &Row<'_>) -> Result<Seq, Unreadable> {
    let seq: i64 = row.get(0)?;
    u64::try_from(seq).map_err(Unreadable::content)
}

/// The event of that number; none where the log does not reach so far.
fn event(
    conn: &Connection,
    blobs: &FolderBlobs,
    run: RunId,
    seq: Seq,
) -> Result<Option<Stored>, ReadError> {
    match seq.checked_sub(1) {
        Some(before) => Ok(events(conn, blobs, run, before, 1)?.pop()),
        None => Ok(None),
    }
}

fn head(conn: &Connection, run: RunId) -> Result<Seq, ReadError> {
    let newest: Option<i64> = conn
        .prepare_cached(HEAD)
        .and_then(|mut statement| {
            statement.query_row([run.to_string()], |row| row.get(0)).optional()
        })
        .map_err(broken)?;
    Ok(newest.unwrap_or(0).unsigned_abs())
}
