//! Making the index of a guided run anew from its events.

use rusqlite::Connection;
use trackway_domain::{RunId, Seq};
use trackway_ports::ReadError;

use crate::{FolderBlobs, marks::Marks, read};

use super::guided::GuidedStatements;

/// Events read at a time.
const PAGE: usize = 256;

/// Why an index could not be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Per table: how many rows of the run its key does not lead to, and what makes the key anew from the
/// rows. One damaged key can lead the search for others astray, even for those of another run.
const KEYS: [(&str, &str); 3] = [
    (
        "SELECT count(*) FROM events AS seen NOT INDEXED WHERE seen.run = ?1
            AND NOT EXISTS (SELECT 1 FROM events INDEXED BY sqlite_autoindex_events_1
                            WHERE run = ?1 AND seq = seen.seq)",
        "REINDEX events",
    ),
    (
        "SELECT count(*) FROM nodes AS seen NOT INDEXED WHERE seen.run = ?1
            AND NOT EXISTS (SELECT 1 FROM nodes INDEXED BY sqlite_autoindex_nodes_1
                            WHERE run = ?1 AND node = seen.node)",
        "REINDEX nodes",
    ),
    (
        "SELECT count(*) FROM attempts AS seen NOT INDEXED WHERE seen.run = ?1
            AND NOT EXISTS (SELECT 1 FROM attempts INDEXED BY sqlite_autoindex_attempts_1
                            WHERE run = ?1 AND node = seen.node AND ack = seen.ack
                              AND digest = seen.digest)",
        "REINDEX attempts",
    ),
];

/// Whether the last event is found as the last. A search from behind takes another way.
const LAST: &str = "SELECT (SELECT seq FROM events INDEXED BY sqlite_autoindex_events_1
                            WHERE run = ?1 ORDER BY seq DESC LIMIT 1)
                    IS (SELECT max(seq) FROM events NOT INDEXED WHERE run = ?1)";

/// Makes those keys anew that do not lead to the run's rows. It walks through whole tables, which only
/// somebody who misses something has to pay for.
fn mend_keys(conn: &Connection, run: &str) -> rusqlite::Result<()> {
    for (count, mend) in KEYS {
        // What cannot even be asked is mended too.
        let lost: i64 = conn.query_row(count, [run], |row| row.get(0)).unwrap_or(1);
        if lost > 0 {
            tracing::error!(run, mend, "a key does not lead to the rows of this run");
            conn.execute_batch(mend)?;
        }
    }
    let last_is_found: bool = conn.query_row(LAST, [run], |row| row.get(0)).unwrap_or(false);
    if !last_is_found {
        conn.execute_batch("REINDEX events")?;
    }
    Ok(())
}

/// An event that cannot be read is passed over: the nodes behind it were found before, and are again.
pub(super) fn reindex(
    conn: &Connection,
    blobs: &FolderBlobs,
    guided: &mut GuidedStatements<'_>,
    run: RunId,
) -> Result<(), Failed> {
    let key = run.to_string();
    mend_keys(conn, &key)?;
    guided.clear(&key)?;
    let mut after = 0;
    loop {
        match read::events(conn, blobs, run, after, PAGE) {
            Ok(page) if page.is_empty() => return Ok(()),
            Ok(page) => {
                for stored in page {
                    after = stored.seq;
                    if let Some(marks) = Marks::of(&stored.event) {
                        guided.note(&key, stored_seq(after), &marks)?;
                    }
                }
            }
            Err(ReadError::Damaged { seq, .. }) => match next(conn, &key, seq)? {
                Some(next) => after = next - 1,
                None => return Ok(()),
            },
            Err(error) => return Err(error.into()),
        }
    }
}

/// Number of the first event behind this one. It is asked for, since a damaged number may leave a gap
/// that nobody would want to walk through.
fn next(conn: &Connection, run: &str, seq: Seq) -> rusqlite::Result<Option<Seq>> {
    let sql = "SELECT min(seq) FROM events WHERE run = ?1 AND seq > ?2";
    let next: Option<i64> =
        conn.prepare_cached(sql)?.query_row((run, stored_seq(seq)), |row| row.get(0))?;
    Ok(next.map(i64::unsigned_abs))
}

fn stored_seq(seq: Seq) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}
