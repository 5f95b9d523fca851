//! Small appends, and direct access to the database file.

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;
use trackway_domain::{Event, Op, OpKind, RunId, Seq, StepOutcome, Timestamp};
use trackway_ports::{Append, AppendError, AppendReceipt, Journal};
use trackway_sqlite::SqliteJournal;

pub(crate) use trackway_testkit::journal_suite::sample_appends::{enqueue_append, run_id};

/// A store in a new folder, and the folder, which is deleted with it.
pub(crate) fn fresh_store() -> (TempDir, SqliteJournal) {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path()).unwrap();
    (folder, journal)
}

pub(crate) fn event(text: &str) -> Event {
    Event::StepDone {
        op: Op { kind: OpKind::Step, key: "sample".into(), occurrence: 0 },
        outcome: StepOutcome::Ok(text.into()),
    }
}

pub(crate) fn appending(run: RunId, expected: Seq, events: impl IntoIterator<Item = Event>) -> Append {
    let mut append = Append::new(run, expected, Timestamp(0));
    append.events.extend(events);
    append
}

pub(crate) async fn append(journal: &dyn Journal, append: Append) -> Result<AppendReceipt, AppendError> {
    enqueue_append(journal, append).await.unwrap()
}

/// Appends events until the run has `count` of them.
pub(crate) async fn fill(journal: &dyn Journal, run: RunId, count: Seq) {
    fill_from(journal, run, 0, count).await;
}

/// The same for a run that has some events.
pub(crate) async fn fill_from(journal: &dyn Journal, run: RunId, from: Seq, count: Seq) {
    for seq in from..count {
        let text = format!("event {} of {run}", seq + 1);
        append(journal, appending(run, seq, [event(&text)])).await.unwrap();
    }
}

pub(crate) async fn count(journal: &dyn Journal, run: RunId) -> usize {
    journal.list_events(run, 0, 1_000_000).await.unwrap().len()
}

/// The store's database, as the `sqlite3` tool would open it.
#[expect(clippy::disallowed_methods, reason = "a test that plays another program")]
pub(crate) fn database(folder: &Path) -> Connection {
    let conn = Connection::open(folder.join("trackway.db")).unwrap();
    conn.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    conn
}

/// Changes the store's database directly.
pub(crate) fn execute(folder: &Path, sql: &str) {
    database(folder).execute_batch(sql).unwrap();
}

pub(crate) fn integrity(folder: &Path) -> String {
    database(folder).pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap()
}
