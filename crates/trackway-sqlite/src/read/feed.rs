//! Reads the whole log in the order of positions, for clients that show everything.

use rusqlite::params;
use trackway_domain::{Access, Pos};
use trackway_ports::{FeedCursor, FeedEvent, FeedPage, ReadError};

use crate::{error::read_error, readers::broken};

use super::{
    Source, Unreadable,
    events::{EVENT_COLUMNS, PAGE_BYTES_MAX, is_damage, read_event},
    parsed,
};

/// Events that are not covered and that one page skips. The next page continues after them.
/// Limit (Store): events that one page of the feed looks at.
const LOOKED_AT_MAX: usize = 4_096;

pub(crate) fn feed(
    from: Source<'_>,
    access: &Access,
    after: &FeedCursor,
    limit: usize,
) -> Result<FeedPage, ReadError> {
    let foreign = |_| broken("the feed cursor is not from this store");
    let after: Pos = if after.0.is_empty() { 0 } else { after.0.parse().map_err(foreign)? };
    let first = i64::try_from(after).map_err(foreign_range)?;
    let sql = format!(
        "SELECT {EVENT_COLUMNS}, run,
                EXISTS (SELECT 1 FROM runs WHERE id = run AND tenant = ?2
                                            AND (?3 IS NULL OR user = ?3))
         FROM events WHERE pos > ?1 ORDER BY pos LIMIT ?4"
    );
    let mut statement = from.conn.prepare_cached(&sql).map_err(read_error)?;
    let user = access.user();
    let values = params![first, access.caller.tenant, user, LOOKED_AT_MAX as i64];
    let mut rows = statement.query(values).map_err(read_error)?;
    let mut page = FeedPage { next: FeedCursor(after.to_string()), ..FeedPage::default() };
    let (mut bytes, mut looked_at) = (0, 0);
    while page.events.len() < limit && bytes <= PAGE_BYTES_MAX {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => {
                page.more = looked_at == LOOKED_AT_MAX;
                return Ok(page);
            }
            Err(error) => return Err(read_error(error)),
        };
        looked_at += 1;
        let pos: i64 = row.get(0).map_err(read_error)?;
        page.next = FeedCursor(pos.to_string());
        if !row.get::<_, bool>(8).map_err(read_error)? {
            continue;
        }
        let key: String = row.get(7).map_err(read_error)?;
        match parsed(row, 7).and_then(|run| Ok((run, read_event(row, from.blobs, &key)?))) {
            Ok((run, (stored, size))) => {
                bytes += size;
                page.events.push(FeedEvent { run, stored });
            }
            Err(Unreadable::Unavailable(reason)) => return Err(ReadError::Unavailable { reason }),
            Err(Unreadable::Sql(error)) if !is_damage(&error) => return Err(read_error(error)),
            Err(error) => {
                tracing::error!(run = key, %error, "a damaged event is omitted from the feed")
            }
        }
    }
    page.more = true;
    Ok(page)
}

fn foreign_range(_: std::num::TryFromIntError) -> ReadError {
    broken("the feed cursor is not from this store")
}
