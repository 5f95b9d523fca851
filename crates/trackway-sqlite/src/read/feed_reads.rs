//! Reads the whole log in the order of positions, for clients that show everything.

use rusqlite::params;
use trackway_domain::{Access, Position};
use trackway_ports::{FeedCursor, FeedEvent, FeedPage, ReadError};

use crate::{reader_pool::broken_store_read_error, sqlite_error::to_read_error};

use super::{
    ReadSource, RowReadError,
    event_reads::{EVENT_COLUMNS, PAGE_BYTES_MAX, decode_event_row, is_damaged_page_error},
    parse_text_column,
};

/// Events that are not covered and that one page skips. The next page continues after them.
/// Limit (Store): events that one page of the feed looks at.
const LOOKED_AT_MAX: usize = 4_096;

pub(crate) fn list_feed(
    read_source: ReadSource<'_>,
    access: &Access,
    after: &FeedCursor,
    limit: usize,
) -> Result<FeedPage, ReadError> {
    let foreign = |_| broken_store_read_error("the feed cursor is not from this store");
    let after: Position = if after.0.is_empty() { 0 } else { after.0.parse().map_err(foreign)? };
    let first = i64::try_from(after).map_err(cursor_out_of_range_error)?;
    let sql = format!(
        "SELECT {EVENT_COLUMNS}, run,
                EXISTS (SELECT 1 FROM runs WHERE id = run AND tenant = ?2
                                            AND (?3 IS NULL OR user = ?3))
         FROM events WHERE pos > ?1 ORDER BY pos LIMIT ?4"
    );
    let mut statement = read_source.conn.prepare_cached(&sql).map_err(to_read_error)?;
    let user = access.only_covered_user();
    let values = params![first, access.caller.tenant, user, LOOKED_AT_MAX as i64];
    let mut rows = statement.query(values).map_err(to_read_error)?;
    let mut page = FeedPage { next: FeedCursor(after.to_string()), ..FeedPage::default() };
    let (mut bytes, mut looked_at) = (0, 0);
    while page.events.len() < limit && bytes <= PAGE_BYTES_MAX {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => {
                page.has_more = looked_at == LOOKED_AT_MAX;
                return Ok(page);
            }
            Err(error) => return Err(to_read_error(error)),
        };
        looked_at += 1;
        let pos: i64 = row.get(0).map_err(to_read_error)?;
        page.next = FeedCursor(pos.to_string());
        if !row.get::<_, bool>(8).map_err(to_read_error)? {
            continue;
        }
        let key: String = row.get(7).map_err(to_read_error)?;
        match parse_text_column(row, 7)
            .and_then(|run| Ok((run, decode_event_row(row, read_source.blobs, &key)?)))
        {
            Ok((run, (stored, size))) => {
                bytes += size;
                page.events.push(FeedEvent { run, stored });
            }
            Err(RowReadError::Unavailable(reason)) => return Err(ReadError::Unavailable { reason }),
            Err(RowReadError::Sql(error)) if !is_damaged_page_error(&error) => {
                return Err(to_read_error(error));
            }
            Err(error) => {
                tracing::error!(run = key, %error, "a damaged event is omitted from the feed")
            }
        }
    }
    page.has_more = true;
    Ok(page)
}

fn cursor_out_of_range_error(_: std::num::TryFromIntError) -> ReadError {
    broken_store_read_error("the feed cursor is not from this store")
}
