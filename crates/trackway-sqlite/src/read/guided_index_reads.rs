//! Reads guided runs through their index. An index row only leads to an event; the event itself proves
//! that it is the requested one. A damaged row is therefore treated as missing, and never leads to
//! another owner's data. If the index finds nothing, the log itself is read.

use rusqlite::{Connection, OptionalExtension as _, Params, Row};
use trackway_domain::{AttemptOutcome, Event, NodeId, RunId, Seq};
use trackway_ports::{
    AttemptKey, NodeWithAttempt, ReadError, StoredEvent, StoredNode, attempt_in_event, node_in_event,
};

use crate::{
    guided_index_entries::{NodeIndexRow, attempt_row_checksum},
    sqlite_error::to_read_error,
};

use super::{
    ReadSource, RowReadError,
    event_reads::{is_damaged_page_error, list_events, load_readable_log},
    run_row_reads::{VerifiedRunRow, find_verified_run_row},
};

pub(super) fn select_node_index_sql() -> String {
    format!("SELECT {} FROM nodes WHERE run = ?1 AND node = ?2", NodeIndexRow::COLUMNS)
}

pub(super) const ATTEMPT: &str = "SELECT seq FROM attempts
     WHERE run = ?1 AND node = ?2 AND ack = ?3 AND digest = ?4";

pub(super) const ATTEMPTS_AT: &str = "SELECT ack, digest, seq FROM attempts
     WHERE run = ?1 AND node = ?2";

/// The run's newest event, from the index alone.
pub(super) const HEAD: &str = "SELECT seq FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";

/// The kind of an event, without reading its body.
pub(super) const KIND: &str = "SELECT kind FROM events WHERE run = ?1 AND seq = ?2";

/// All reads use one snapshot, so that an append based on the result can fail only with a conflict.
pub(crate) fn find_node(
    read_source: ReadSource<'_>,
    run: RunId,
    node: NodeId,
) -> Result<Option<StoredNode>, ReadError> {
    let moment = read_source.conn.unchecked_transaction().map_err(to_read_error)?;
    let from = ReadSource { conn: &moment, ..read_source };
    let found = match find_indexed_node(from, run, node)? {
        Some(found) => Some(found),
        None => find_node_in_log(from, run, node)?,
    };
    let Some((made, branches, blocked)) = found else { return Ok(None) };
    let Some(VerifiedRunRow { row, head: least }) = find_verified_run_row(from.conn, run)? else {
        return Ok(None);
    };
    // If the key of the events is damaged, no caller may append at the apparent end of the log.
    let head = newest_event_seq(from.conn, run)?.max(least).max(made.seq);
    let is_unadopted = head > made.seq && is_last_event_imported(from, run, head)?;
    Ok(Some(StoredNode {
        defining_event: made,
        head,
        is_unadopted,
        row,
        branch_count: branches,
        blocked_count: blocked,
    }))
}

/// The event that made a node or last changed its definition, how many attempts at it advanced, and how
/// many were blocked.
type FoundNode = (StoredEvent, u32, u32);

fn find_indexed_node(
    read_source: ReadSource<'_>,
    run: RunId,
    node: NodeId,
) -> Result<Option<FoundNode>, ReadError> {
    let Some(row) = find_node_index_row(read_source.conn, run, node)? else { return Ok(None) };
    let counts = (u32::try_from(row.branches), u32::try_from(row.blocked));
    let (Ok(seq), (Ok(branches), Ok(blocked))) = (u64::try_from(row.seq), counts) else {
        return Ok(None);
    };
    let made = find_event_by_seq(read_source, run, seq)?;
    let made = made.filter(|made| node_in_event(&made.event).is_some_and(|it| it.id == node));
    Ok(made.map(|made| (made, branches, blocked)))
}

/// The same from the log. If a part of the log cannot be read, a node that is not found may still exist.
fn find_node_in_log(
    read_source: ReadSource<'_>,
    run: RunId,
    node: NodeId,
) -> Result<Option<FoundNode>, ReadError> {
    let (log, damage) = load_readable_log(read_source, run)?;
    let (mut branches, mut blocked) = (0, 0);
    for attempt in log.iter().filter_map(|stored| attempt_in_event(&stored.event)) {
        match attempt.outcome {
            _ if attempt.node != node => {}
            AttemptOutcome::Advanced(_) => branches += 1,
            AttemptOutcome::Blocked(_) => blocked += 1,
        }
    }
    let is_node = |stored: &StoredEvent| node_in_event(&stored.event).is_some_and(|it| it.id == node);
    match (log.into_iter().rfind(is_node), damage) {
        (Some(made), _) => {
            tracing::error!(%run, %node, "the index of nodes is damaged; reading the log instead");
            Ok(Some((made, branches, blocked)))
        }
        (None, Some(damage)) => Err(damage),
        (None, None) => Ok(None),
    }
}

/// Whether the run's last event is `Imported`. An unreadable event does not count: it was readable when
/// it was imported, and an agent can continue in spite of damage.
fn is_last_event_imported(read_source: ReadSource<'_>, run: RunId, head: Seq) -> Result<bool, ReadError> {
    let mut statement = read_source.conn.prepare_cached(KIND).map_err(to_read_error)?;
    let place = (run.to_string(), i64::try_from(head).unwrap_or(i64::MAX));
    let kind = match statement.query_row(place, |row| row.get::<_, String>(0)).optional() {
        Ok(kind) => kind,
        Err(error) if is_damaged_page_error(&error) || error.sqlite_error().is_none() => None,
        Err(error) => return Err(to_read_error(error)),
    };
    if kind.as_deref() != Some(Event::Imported.event_name()) {
        return Ok(false);
    }
    match find_event_by_seq(read_source, run, head) {
        Ok(last) => Ok(last.is_some_and(|last| last.event == Event::Imported)),
        Err(ReadError::Damaged { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads the node and the attempt on one connection and one thread: a switch of threads costs more than
/// either read. The node comes first: the second read finds an attempt that is recorded between the two.
pub(crate) fn find_node_and_attempt(
    read_source: ReadSource<'_>,
    key: &AttemptKey,
) -> Result<Option<NodeWithAttempt>, ReadError> {
    let Some(place) = find_node(read_source, key.run, key.node)? else { return Ok(None) };
    Ok(Some(NodeWithAttempt { node: place, attempt: find_attempt(read_source, key)? }))
}

/// A damaged index must not make a recorded attempt look new, so that it is made again: if the index is
/// damaged, the log itself is read.
pub(crate) fn find_attempt(
    read_source: ReadSource<'_>,
    key: &AttemptKey,
) -> Result<Option<StoredEvent>, ReadError> {
    let AttemptKey { run, node, ack, digest } = key;
    let moment = read_source.conn.unchecked_transaction().map_err(to_read_error)?;
    let from = ReadSource { conn: &moment, ..read_source };
    let values = (run.to_string(), node.to_string(), ack.to_string(), digest);
    let noted = select_readable_index_row(from.conn, ATTEMPT, values, decode_event_seq)?;
    match noted {
        Some(seq) => {
            let found = find_event_by_seq(from, *run, seq)?;
            if found.as_ref().is_some_and(|found| matches_attempt_key(found, key)) {
                return Ok(found);
            }
        }
        None if is_certainly_new_attempt(from.conn, key)? => return Ok(None),
        None => {}
    }
    tracing::error!(%run, %node, "the index of attempts is damaged; reading the log instead");
    let (log, damage) = load_readable_log(from, *run)?;
    match (log.into_iter().find(|stored| matches_attempt_key(stored, key)), noted, damage) {
        (Some(found), _, _) => Ok(Some(found)),
        // It may be in the unreadable part.
        (None, _, Some(damage)) => Err(damage),
        (None, Some(seq), None) => {
            let reason = "an attempt was recorded there but cannot be found".to_owned();
            Err(ReadError::Damaged { run: *run, seq, reason })
        }
        (None, None, None) => Ok(None),
    }
}

/// Whether the index has every recorded attempt at the node, and this one is not among them. The cost
/// grows only with the attempts at this node.
fn is_certainly_new_attempt(conn: &Connection, key: &AttemptKey) -> Result<bool, ReadError> {
    let Some(NodeIndexRow { attempts_sum, .. }) = find_node_index_row(conn, key.run, key.node)? else {
        return Ok(false);
    };
    let mut statement = conn.prepare_cached(ATTEMPTS_AT).map_err(to_read_error)?;
    let values = (key.run.to_string(), key.node.to_string());
    let mut rows = statement.query(values).map_err(to_read_error)?;
    let ack = key.ack.to_string();
    let mut sum = 0_i64;
    loop {
        let noted = match rows.next() {
            Ok(None) => return Ok(sum == attempts_sum),
            Ok(Some(row)) => decode_attempt_row(row),
            Err(error) if is_damaged_page_error(&error) => return Ok(false),
            Err(error) => return Err(to_read_error(error)),
        };
        match noted {
            // A damaged key made the search miss it.
            Ok((its_ack, digest, _)) if its_ack == ack && digest == key.digest => return Ok(false),
            Ok((_, _, noted)) => sum = sum.wrapping_add(noted),
            Err(_) => return Ok(false),
        }
    }
}

/// Ack and digest of an attempt, and what it adds to its node's sum.
fn decode_attempt_row<'a>(row: &'a Row<'_>) -> Result<(&'a str, &'a str, i64), RowReadError> {
    let (ack, digest) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
    Ok((ack, digest, attempt_row_checksum(ack, digest, row.get(2)?)))
}

fn matches_attempt_key(stored: &StoredEvent, key: &AttemptKey) -> bool {
    attempt_in_event(&stored.event)
        .is_some_and(|it| it.node == key.node && it.ack == key.ack && it.digest == key.digest)
}

pub(super) fn find_node_index_row(
    conn: &Connection,
    run: RunId,
    node: NodeId,
) -> Result<Option<NodeIndexRow>, ReadError> {
    let (run, node) = (run.to_string(), node.to_string());
    select_readable_index_row(conn, &select_node_index_sql(), (&run, &node), |row| {
        let damaged = || RowReadError::Content("it does not match its checksum".to_owned());
        NodeIndexRow::decode_verified_node_row(row, &run, &node).ok_or_else(damaged)
    })
}

pub(crate) fn find_definition(conn: &Connection, hash: &str) -> Result<Option<String>, ReadError> {
    match select_definition(conn, DEFINITION, hash) {
        Ok(Some(body)) => Ok(Some(body)),
        // Missing definitions are rare, and there are few definitions, so a scan is cheap. It finds a
        // definition in spite of a damaged key.
        by_key => match (select_definition(conn, DEFINITION_WITHOUT_KEY, hash), by_key) {
            (Ok(Some(body)), _) => Ok(Some(body)),
            (_, by_key) => by_key,
        },
    }
}

const DEFINITION: &str = "SELECT hash, crc, body FROM definitions WHERE hash = ?1";

const DEFINITION_WITHOUT_KEY: &str = "SELECT hash, crc, body FROM definitions NOT INDEXED WHERE hash = ?1";

fn select_definition(conn: &Connection, sql: &str, hash: &str) -> Result<Option<String>, ReadError> {
    let found = conn.prepare_cached(sql).and_then(|mut statement| {
        let read =
            |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?, row.get::<_, String>(2)?));
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
        // The connection works; the data is damaged.
        Err(error) if is_damaged_page_error(&error) || error.sqlite_error().is_none() => {
            damaged(error.to_string())
        }
        Err(error) => Err(to_read_error(error)),
    }
}

/// The one row that an index has for these values. A row that cannot be read is logged and treated as
/// missing.
fn select_readable_index_row<T>(
    conn: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, RowReadError>,
) -> Result<Option<T>, ReadError> {
    let mut statement = conn.prepare_cached(sql).map_err(to_read_error)?;
    let mut rows = statement.query(values).map_err(to_read_error)?;
    let found = match rows.next() {
        Ok(None) => return Ok(None),
        Ok(Some(row)) => read(row),
        Err(error) if is_damaged_page_error(&error) => Err(error.into()),
        Err(error) => return Err(to_read_error(error)),
    };
    match found {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            tracing::error!(%error, "a damaged row of the index of guided runs is omitted");
            Ok(None)
        }
    }
}

fn decode_event_seq(row: &Row<'_>) -> Result<Seq, RowReadError> {
    let seq: i64 = row.get(0)?;
    u64::try_from(seq).map_err(RowReadError::invalid_row_content)
}

/// The event of that number; `None` if the log is shorter.
pub(super) fn find_event_by_seq(
    read_source: ReadSource<'_>,
    run: RunId,
    seq: Seq,
) -> Result<Option<StoredEvent>, ReadError> {
    match seq.checked_sub(1) {
        Some(before) => Ok(list_events(read_source, run, before, 1)?.pop()),
        None => Ok(None),
    }
}

pub(super) fn newest_event_seq(conn: &Connection, run: RunId) -> Result<Seq, ReadError> {
    let mut statement = conn.prepare_cached(HEAD).map_err(to_read_error)?;
    match statement.query_row([run.to_string()], |row| row.get::<_, i64>(0)).optional() {
        Ok(newest) => Ok(newest.unwrap_or(0).unsigned_abs()),
        Err(error) if is_damaged_page_error(&error) || error.sqlite_error().is_none() => {
            Err(ReadError::Damaged { run, seq: 1, reason: error.to_string() })
        }
        Err(error) => Err(to_read_error(error)),
    }
}
