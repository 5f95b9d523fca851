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

/// An event that cannot be read is passed over: the nodes behind it were found before, and are again.
pub(super) fn reindex(
    conn: &Connection,
    blobs: &FolderBlobs,
    guided: &mut GuidedStatements<'_>,
    run: RunId,
) -> Result<(), Failed> {
    let key = run.to_string();
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
