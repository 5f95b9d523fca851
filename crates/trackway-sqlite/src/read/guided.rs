//! Reading guided runs through their index. An index row only leads to an event: whether the event is the
//! one that was asked for, the event itself says. So a damaged row is as good as none, and never leads to
//! what belongs to somebody else.

use rusqlite::{Connection, OptionalExtension as _, Params, Row};
use trackway_domain::{Event, NodeId, RunId, Seq};
use trackway_ports::{AskedPlace, AttemptKey, NodePlace, ReadError, Stored, attempt_of, node_of};

use crate::{
    FolderBlobs,
    error::read_error,
    marks::{NodeRow, attempt_sum},
};

use super::{
    Unreadable,
    events::{events, is_damage},
    run::{Known, known},
};

/// Events read at a time where the index fails and the log itself is read.
const PAGE: usize = 256;

pub(super) fn node_sql() -> String {
    format!("SELECT {} FROM nodes WHERE run = ?1 AND node = ?2", NodeRow::COLUMNS)
}

pub(super) const ATTEMPT: &str = "SELECT seq FROM attempts
     WHERE run = ?1 AND node = ?2 AND ack = ?3 AND digest = ?4";

pub(super) const ATTEMPTS_AT: &str = "SELECT ack, digest, seq FROM attempts
     WHERE run = ?1 AND node = ?2";

/// The run's newest event, from the index alone.
pub(super) const HEAD: &str = "SELECT seq FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";

/// What kind of event it is, for which its body need not be read.
pub(super) const KIND: &str = "SELECT kind FROM events WHERE run = ?1 AND seq = ?2";

/// Everything is of one moment, so that an append that goes by it meets no surprise but a conflict.
pub(crate) fn node(
    conn: &Connection,
    blobs: &FolderBlobs,
    run: RunId,
    node: NodeId,
) -> Result<Option<NodePlace>, ReadError> {
    let moment = conn.unchecked_transaction().map_err(read_error)?;
    let Some(place) = node_row(&moment, run, node)? else { return Ok(None) };
    let counts = (u32::try_from(place.branches), u32::try_from(place.blocked));
    let (Ok(seq), (Ok(branches), Ok(blocked))) = (u64::try_from(place.seq), counts) else {
        return Ok(None);
    };
    let made = event(&moment, blobs, run, seq)?;
    let Some(made) = made.filter(|made| node_of(&made.event).is_some_and(|it| it.id == node))
    else {
        return Ok(None);
    };
    let Some(Known { row, head: least }) = known(&moment, run)? else { return Ok(None) };
    // Where the key of the events is damaged, nobody may append where the log seems to end.
    let head = head(&moment, run)?.max(least);
    if head < seq {
        return Ok(None);
    }
    let is_unadopted = head > seq && is_import(&moment, blobs, run, head)?;
    Ok(Some(NodePlace { made, head, is_unadopted, row, branches, blocked }))
}

/// Whether the run's last event is the mark of an import. One that cannot be read is none: it was whole
/// when it was imported, and an agent goes on beside damage.
fn is_import(
    conn: &Connection,
    blobs: &FolderBlobs,
    run: RunId,
    head: Seq,
) -> Result<bool, ReadError> {
    let mut statement = conn.prepare_cached(KIND).map_err(read_error)?;
    let place = (run.to_string(), i64::try_from(head).unwrap_or(i64::MAX));
    let kind = match statement.query_row(place, |row| row.get::<_, String>(0)).optional() {
        Ok(kind) => kind,
        Err(error) if is_damage(&error) || error.sqlite_error().is_none() => None,
        Err(error) => return Err(read_error(error)),
    };
    if kind.as_deref() != Some(Event::Imported.name()) {
        return Ok(false);
    }
    match event(conn, blobs, run, head) {
        Ok(last) => Ok(last.is_some_and(|last| last.event == Event::Imported)),
        Err(ReadError::Damaged { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The node and the attempt on one connection and one thread: going to a thread and back costs more than
/// either read. The node comes first: an attempt that is recorded between the two is found by the second.
pub(crate) fn asked(
    conn: &Connection,
    blobs: &FolderBlobs,
    key: &AttemptKey,
) -> Result<Option<AskedPlace>, ReadError> {
    let Some(place) = node(conn, blobs, key.run, key.node)? else { return Ok(None) };
    Ok(Some(AskedPlace { place, attempt: attempt(conn, blobs, key)? }))
}

/// Nobody may take a damaged index for an attempt that was never made, and make it again: where the
/// index is not whole, the log itself is read.
pub(crate) fn attempt(
    conn: &Connection,
    blobs: &FolderBlobs,
    key: &AttemptKey,
) -> Result<Option<Stored>, ReadError> {
    let AttemptKey { run, node, ack, digest } = key;
    let moment = conn.unchecked_transaction().map_err(read_error)?;
    let values = (run.to_string(), node.to_string(), ack.to_string(), digest);
    let noted = indexed(&moment, ATTEMPT, values, seq_of)?;
    match noted {
        Some(seq) => {
            let found = event(&moment, blobs, *run, seq)?;
            if found.as_ref().is_some_and(|found| is_attempt(found, key)) {
                return Ok(found);
            }
        }
        None if was_never_made(&moment, key)? => return Ok(None),
        None => {}
    }
    tracing::error!(%run, %node, "the index of attempts is damaged; the log is read instead");
    match (search(&moment, blobs, key)?, noted) {
        (None, Some(seq)) => {
            let reason = "an attempt was recorded there, and is not found".to_owned();
            Err(ReadError::Damaged { run: *run, seq, reason })
        }
        (found, _) => Ok(found),
    }
}

/// Whether the index has every attempt at the node as it was noted, and this one is not among them. Its
/// cost is that of the attempts at this one node.
fn was_never_made(conn: &Connection, key: &AttemptKey) -> Result<bool, ReadError> {
    let Some(NodeRow { attempts, .. }) = node_row(conn, key.run, key.node)? else {
        return Ok(false);
    };
    let mut statement = conn.prepare_cached(ATTEMPTS_AT).map_err(read_error)?;
    let values = (key.run.to_string(), key.node.to_string());
    let mut rows = statement.query(values).map_err(read_error)?;
    let ack = key.ack.to_string();
    let mut sum = 0_i64;
    loop {
        let noted = match rows.next() {
            Ok(None) => return Ok(sum == attempts),
            Ok(Some(row)) => noted(row),
            Err(error) if is_damage(&error) => return Ok(false),
            Err(error) => return Err(read_error(error)),
        };
        match noted {
            // A damaged key led past it.
            Ok((its_ack, digest, _)) if its_ack == ack && digest == key.digest => return Ok(false),
            Ok((_, _, noted)) => sum = sum.wrapping_add(noted),
            Err(_) => return Ok(false),
        }
    }
}

/// Ack and digest of an attempt, and what it adds to its node's sum.
fn noted<'a>(row: &'a Row<'_>) -> Result<(&'a str, &'a str, i64), Unreadable> {
    let (ack, digest) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
    Ok((ack, digest, attempt_sum(ack, digest, row.get(2)?)))
}

/// Looks for the attempt in the run's log. Where a part of it cannot be read, it may be there.
fn search(
    conn: &Connection,
    blobs: &FolderBlobs,
    key: &AttemptKey,
) -> Result<Option<Stored>, ReadError> {
    let mut after = 0;
    loop {
        let page = events(conn, blobs, key.run, after, PAGE)?;
        let Some(last) = page.last() else { return Ok(None) };
        after = last.seq;
        if let Some(found) = page.into_iter().find(|stored| is_attempt(stored, key)) {
            return Ok(Some(found));
        }
    }
}

fn is_attempt(stored: &Stored, key: &AttemptKey) -> bool {
    attempt_of(&stored.event)
        .is_some_and(|it| it.node == key.node && it.ack == key.ack && it.digest == key.digest)
}

pub(super) fn node_row(
    conn: &Connection,
    run: RunId,
    node: NodeId,
) -> Result<Option<NodeRow>, ReadError> {
    let (run, node) = (run.to_string(), node.to_string());
    indexed(conn, &node_sql(), (&run, &node), |row| {
        let damaged = || Unreadable::Content("it does not match its checksum".to_owned());
        NodeRow::read(row, &run, &node).ok_or_else(damaged)
    })
}

pub(crate) fn pinned(conn: &Connection, hash: &str) -> Result<Option<String>, ReadError> {
    match definition(conn, DEFINITION, hash) {
        Ok(Some(body)) => Ok(Some(body)),
        // Those that are not there are few, and so are definitions: a damaged key costs nobody his own.
        by_key => match (definition(conn, DEFINITION_WITHOUT_KEY, hash), by_key) {
            (Ok(Some(body)), _) => Ok(Some(body)),
            (_, by_key) => by_key,
        },
    }
}

const DEFINITION: &str = "SELECT hash, crc, body FROM definitions WHERE hash = ?1";

const DEFINITION_WITHOUT_KEY: &str =
    "SELECT hash, crc, body FROM definitions NOT INDEXED WHERE hash = ?1";

fn definition(conn: &Connection, sql: &str, hash: &str) -> Result<Option<String>, ReadError> {
    let found = conn.prepare_cached(sql).and_then(|mut statement| {
        let read = |row: &Row<'_>| {
            Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?, row.get::<_, String>(2)?))
        };
        statement.query_row([hash], read).optional()
    });
    let damaged = |reason: String| {
        let hash = hash.to_owned();
        Err(ReadError::DamagedBlob { hash, reason })
    };
    match found {
        Ok(Some((own, crc, body))) if own == hash && crc == crc32fast::hash(body.as_bytes()) => {
            Ok(Some(body))
        }
        Ok(Some(_)) => damaged("the definition does not match its checksum".to_owned()),
        Ok(None) => Ok(None),
        // The connection is good; what it read is not.
        Err(error) if is_damage(&error) || error.sqlite_error().is_none() => {
            damaged(error.to_string())
        }
        Err(error) => Err(read_error(error)),
    }
}

/// The one row that an index has for these values. One that cannot be read is logged and is none.
fn indexed<T>(
    conn: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Unreadable>,
) -> Result<Option<T>, ReadError> {
    let mut statement = conn.prepare_cached(sql).map_err(read_error)?;
    let mut rows = statement.query(values).map_err(read_error)?;
    let found = match rows.next() {
        Ok(None) => return Ok(None),
        Ok(Some(row)) => read(row),
        Err(error) if is_damage(&error) => Err(error.into()),
        Err(error) => return Err(read_error(error)),
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
pub(super) fn event(
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

pub(super) fn head(conn: &Connection, run: RunId) -> Result<Seq, ReadError> {
    let mut statement = conn.prepare_cached(HEAD).map_err(read_error)?;
    match statement.query_row([run.to_string()], |row| row.get::<_, i64>(0)).optional() {
        Ok(newest) => Ok(newest.unwrap_or(0).unsigned_abs()),
        Err(error) if is_damage(&error) || error.sqlite_error().is_none() => {
            Err(ReadError::Damaged { run, seq: 1, reason: error.to_string() })
        }
        Err(error) => Err(read_error(error)),
    }
}
