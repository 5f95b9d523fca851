//! Reading the log of one run.

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, types::ValueRef};
use trackway_domain::{Position, RunId, Seq, Timestamp};
use trackway_ports::{AppendId, AppendReceipt, BlobHash, ReadError, StoredEvent, decode_event};

use crate::{FolderBlobStore, checksum::EventChecksumKey, sqlite_error::to_read_error};

use super::{ReadSource, RowReadError, parse_text_column, run_row_reads::recorded_log_length, table_scan};

/// A page ends when the bodies of its events exceed this size: pages of small events stay long, and a
/// page of large events does not take much memory.
/// Limit (Store): page of events.
pub(super) const PAGE_BYTES_MAX: usize = 256 * 1024;

/// The columns that [`decode_event_row`] reads.
pub(super) const EVENT_COLUMNS: &str = "pos, seq, at, format, crc, body, blob";

/// Reads by the key of the events. If that finds nothing, or another row, although the run should have
/// more events, they are read without a key: damage in another run may have misled the search.
pub(crate) fn list_events(
    read_source: ReadSource<'_>,
    run: RunId,
    after: Seq,
    limit: usize,
) -> Result<Vec<StoredEvent>, ReadError> {
    let found = list_events_by_key(read_source, run, after, limit)?;
    let trouble = match found {
        Ok(found) if !found.is_empty() || limit == 0 => return Ok(found),
        Ok(_) if recorded_log_length(read_source.conn, run)? <= after => return Ok(Vec::new()),
        // The run may have new events since the first read.
        Ok(_) => match list_events_by_key(read_source, run, after, limit)? {
            Ok(found) if !found.is_empty() => return Ok(found),
            Ok(_) => RowReadError::Content("it is missing".to_owned()),
            Err(trouble) => trouble,
        },
        Err(trouble) => trouble,
    };
    let found = table_scan::scan_table_for_events(read_source, run, after, limit)?;
    if found.is_empty() {
        let reason = trouble.to_string();
        return Err(ReadError::Damaged { run, seq: after.saturating_add(1), reason });
    }
    tracing::error!(%run, after, %trouble, "the key of the events is damaged; reading them without it");
    Ok(found)
}

/// Events per read when an index is damaged and the log itself is read.
const LOG_PAGE: usize = 256;

/// Every readable event of the run, and the first damage among them.
pub(super) fn load_readable_log(
    read_source: ReadSource<'_>,
    run: RunId,
) -> Result<(Vec<StoredEvent>, Option<ReadError>), ReadError> {
    let (mut log, mut damage) = (Vec::new(), None);
    let mut after = 0;
    loop {
        match list_events(read_source, run, after, LOG_PAGE) {
            Ok(page) => {
                let Some(last) = page.last() else { return Ok((log, damage)) };
                after = last.seq;
                log.extend(page);
            }
            Err(error @ ReadError::Damaged { seq, .. }) => {
                damage.get_or_insert(error);
                let Some(next) = next_event_seq_after(read_source.conn, run, seq)? else {
                    return Ok((log, damage));
                };
                after = next - 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Number of the first event after this one. A damaged number may leave a gap that is too long to walk
/// through.
fn next_event_seq_after(conn: &Connection, run: RunId, seq: Seq) -> Result<Option<Seq>, ReadError> {
    let sql = "SELECT min(seq) FROM events WHERE run = ?1 AND seq > ?2";
    let values = (run.to_string(), i64::try_from(seq).unwrap_or(i64::MAX));
    let next = conn
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(values, |row| row.get::<_, Option<i64>>(0)));
    Ok(next.map_err(to_read_error)?.map(i64::unsigned_abs))
}

/// The append that follows that event of the run, if it has this id.
pub(crate) fn find_receipt(
    conn: &Connection,
    run: RunId,
    expected: Seq,
    id: AppendId,
) -> Result<Option<AppendReceipt>, ReadError> {
    let Ok(seq) = i64::try_from(expected.saturating_add(1)) else { return Ok(None) };
    let sql = "SELECT pos FROM events WHERE run = ?1 AND seq = ?2 AND append = ?3";
    let found = conn.prepare_cached(sql).and_then(|mut statement| {
        let values = (run.to_string(), seq, id.0.cast_signed());
        statement.query_row(values, |row| row.get::<_, i64>(0)).optional()
    });
    let receipt = |pos: i64| AppendReceipt {
        first_position: pos.unsigned_abs(),
        start_positions: Vec::new(),
        has_due_hook: true,
    };
    found.map(|pos| pos.map(receipt)).map_err(to_read_error)
}

/// The inner error is about the first event after `after`.
fn list_events_by_key(
    read_source: ReadSource<'_>,
    run: RunId,
    after: Seq,
    limit: usize,
) -> Result<Result<Vec<StoredEvent>, RowReadError>, ReadError> {
    let Ok(first) = i64::try_from(after) else {
        return Ok(Ok(Vec::new()));
    };
    let sql = format!("SELECT {EVENT_COLUMNS} FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
    let key = run.to_string();
    let mut statement = read_source.conn.prepare_cached(&sql).map_err(to_read_error)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((&key, first, limit)).map_err(to_read_error)?;
    let mut found = Vec::new();
    let mut seq = after;
    let mut bytes = 0;
    loop {
        seq += 1;
        if bytes > PAGE_BYTES_MAX {
            return Ok(Ok(found));
        }
        let read = match rows.next() {
            Ok(None) => return Ok(Ok(found)),
            Ok(Some(row)) => {
                decode_event_row(row, read_source.blobs, &key).and_then(|read| match read.0.seq == seq {
                    true => Ok(read),
                    false => Err(RowReadError::Content("it is missing".to_owned())),
                })
            }
            Err(error) if is_damaged_page_error(&error) => Err(error.into()),
            Err(error) => return Err(to_read_error(error)),
        };
        match read {
            Ok((event, size)) => {
                bytes += size;
                found.push(event);
            }
            // The events before are good; a call that starts here gets the error.
            Err(_) if !found.is_empty() => return Ok(Ok(found)),
            Err(RowReadError::Unavailable(reason)) => return Err(ReadError::Unavailable { reason }),
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// Finds the first event after the position by binary search: inside a run, positions grow with numbers.
/// An index by (run, pos) would be faster to read, but would make every append slower.
pub(crate) fn list_events_after_position(
    read_source: ReadSource<'_>,
    run: RunId,
    after: Position,
    limit: usize,
) -> Result<Vec<StoredEvent>, ReadError> {
    let key = run.to_string();
    let mut at_or_after = read_source
        .conn
        .prepare_cached("SELECT seq, pos FROM events WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1")
        .map_err(to_read_error)?;
    let mut newest = read_source
        .conn
        .prepare_cached("SELECT seq, pos FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1")
        .map_err(to_read_error)?;
    let pair = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let is_after = |pos: i64| u64::try_from(pos).is_ok_and(|pos| pos > after);

    let mut high = match newest.query_row([&key], pair).optional().map_err(to_read_error)? {
        Some((seq, pos)) if is_after(pos) => seq,
        _ => return Ok(Vec::new()),
    };
    let mut low = 1;
    while low < high {
        let middle = low + (high - low) / 2;
        match at_or_after.query_row((&key, middle), pair).map_err(to_read_error)? {
            (_, pos) if is_after(pos) => high = middle,
            (seq, _) => low = seq.max(middle) + 1,
        }
    }
    list_events(read_source, run, low.unsigned_abs() - 1, limit)
}

/// The event in this row and the size of its body, if it is undamaged and belongs to this run.
pub(super) fn decode_event_row(
    row: &Row<'_>,
    blobs: &FolderBlobStore,
    run: &str,
) -> Result<(StoredEvent, usize), RowReadError> {
    let unsigned = |number: i64| u64::try_from(number).map_err(RowReadError::invalid_row_content);
    let place =
        EventChecksumKey { run, pos: row.get(0)?, seq: row.get(1)?, at: row.get(2)?, format: row.get(3)? };
    let crc: u32 = row.get(4)?;
    let from_blob;
    let (content, body) = match row.get_ref(5)? {
        ValueRef::Null => {
            let hash: BlobHash = parse_text_column(row, 6)?;
            let bytes = blobs.read_blob(hash).map_err(RowReadError::from_blob_error)?;
            from_blob = String::from_utf8(bytes).map_err(RowReadError::invalid_row_content)?;
            (crc32fast::hash(hash.to_string().as_bytes()), from_blob.as_str())
        }
        value => {
            let body = value.as_str()?;
            (crc32fast::hash(body.as_bytes()), body)
        }
    };
    if place.event_checksum_with_content(content) != crc {
        return Err(RowReadError::Content("it does not match its checksum".to_owned()));
    }
    let event = decode_event(place.format, body).map_err(|error| {
        let source = std::error::Error::source(&error);
        let detail = source.map_or_else(String::new, |source| format!(": {source}"));
        RowReadError::Content(format!("{error}{detail}"))
    })?;
    let at = Timestamp::from_millis(place.at);
    let (pos, seq) = (unsigned(place.pos)?, unsigned(place.seq)?);
    Ok((StoredEvent { pos, seq, at, event }, body.len()))
}

/// The page of this row is damaged, which says nothing about other pages.
pub(crate) fn is_damaged_page_error(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::SystemIoFailure))
}
