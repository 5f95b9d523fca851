//! Reading the log of one run.

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, types::ValueRef};
use trackway_domain::{Pos, RunId, Seq, Timestamp};
use trackway_ports::{BlobHash, ReadError, Stored, decode};

use crate::{FolderBlobs, readers::broken};

use super::{Unreadable, parsed};

/// Events are handed out until their bodies exceed this: pages of small events stay long, and a page of
/// large ones is no burden for whoever holds it.
const PAGE_BYTES_MAX: usize = 256 * 1024;

pub(crate) fn events(
    conn: &Connection,
    blobs: &FolderBlobs,
    run: RunId,
    after: Seq,
    limit: usize,
) -> Result<Vec<Stored>, ReadError> {
    let Ok(first) = i64::try_from(after) else {
        return Ok(Vec::new());
    };
    let mut statement = conn
        .prepare_cached(
            "SELECT pos, seq, at, format, crc, body, blob FROM events
             WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        )
        .map_err(broken)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((run.to_string(), first, limit)).map_err(broken)?;
    let mut found = Vec::new();
    let mut seq = after;
    let mut bytes = 0;
    loop {
        seq += 1;
        if bytes > PAGE_BYTES_MAX {
            return Ok(found);
        }
        let read = match rows.next() {
            Ok(None) => return Ok(found),
            Ok(Some(row)) => read_event(row, blobs, seq),
            Err(error) if is_damage(&error) => Err(error.into()),
            Err(error) => return Err(broken(error)),
        };
        match read {
            Ok((event, size)) => {
                bytes += size;
                found.push(event);
            }
            // What came before is good; a call that begins here is told.
            Err(_) if !found.is_empty() => return Ok(found),
            Err(error) => {
                return Err(ReadError::Damaged { run, seq, reason: error.to_string() });
            }
        }
    }
}

/// Finds the first event after the position by halving: inside a run, positions grow with numbers. An
/// index by (run, pos) would answer at once, but every append would pay for it.
pub(crate) fn events_after_pos(
    conn: &Connection,
    blobs: &FolderBlobs,
    run: RunId,
    after: Pos,
    limit: usize,
) -> Result<Vec<Stored>, ReadError> {
    let key = run.to_string();
    let mut at_or_after = conn
        .prepare_cached(
            "SELECT seq, pos FROM events WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1",
        )
        .map_err(broken)?;
    let mut newest = conn
        .prepare_cached("SELECT seq, pos FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1")
        .map_err(broken)?;
    let pair = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let is_after = |pos: i64| u64::try_from(pos).is_ok_and(|pos| pos > after);

    let mut high = match newest.query_row([&key], pair).optional().map_err(broken)? {
        Some((seq, pos)) if is_after(pos) => seq,
        _ => return Ok(Vec::new()),
    };
    let mut low = 1;
    while low < high {
        let middle = low + (high - low) / 2;
        match at_or_after.query_row((&key, middle), pair).map_err(broken)? {
            (_, pos) if is_after(pos) => high = middle,
            (seq, _) => low = seq.max(middle) + 1,
        }
    }
    events(conn, blobs, run, low.unsigned_abs() - 1, limit)
}

/// The event in this row and the size of its body, if it is whole and is the one that must come next.
fn read_event(
    row: &Row<'_>,
    blobs: &FolderBlobs,
    expected: Seq,
) -> Result<(Stored, usize), Unreadable> {
    let number = |column| {
        let value: i64 = row.get(column)?;
        u64::try_from(value).map_err(Unreadable::content)
    };
    let seq = number(1)?;
    if seq != expected {
        return Err(Unreadable::Content("it is missing".to_owned()));
    }
    let from_blob;
    let body = match row.get_ref(5)? {
        ValueRef::Null => {
            let hash: BlobHash = parsed(row, 6)?;
            let bytes = blobs.read(hash).map_err(Unreadable::content)?;
            from_blob = String::from_utf8(bytes).map_err(Unreadable::content)?;
            from_blob.as_str()
        }
        value => value.as_str()?,
    };
    let crc: u32 = row.get(4)?;
    if crc32fast::hash(body.as_bytes()) != crc {
        return Err(Unreadable::Content("its body does not match its checksum".to_owned()));
    }
    let event = decode(row.get(3)?, body).map_err(|error| {
        let source = std::error::Error::source(&error);
        let detail = source.map_or_else(String::new, |source| format!(": {source}"));
        Unreadable::Content(format!("{error}{detail}"))
    })?;
    let at = Timestamp::from_millis(row.get(2)?);
    Ok((Stored { pos: number(0)?, seq, at, event }, body.len()))
}

/// The page that holds this row is damaged, which says nothing about other pages.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::SystemIoFailure)
    )
}
