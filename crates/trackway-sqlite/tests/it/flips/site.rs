//! Three sessions in one database, and a check that all data is returned as it was written.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use trackway_domain::{Access, NodeId, RunId, SessionId};
use trackway_ports::{AttemptKey, Journal, ReadError, RunRow, SessionRow, StoredEvent, StoredNode};
use trackway_ports::{attempt_in_event, node_in_event};
use trackway_sqlite::SqliteJournal;
use trackway_testkit::{GuidedRunBuilder, inputs_with_notes, load_full_log};

use crate::helpers::database;

/// Tables that hold session data, each with its indexes.
const TABLES: [&str; 7] = ["events", "runs", "nodes", "attempts", "checkpoints", "definitions", "pins"];

/// Enough for tables and indexes with several pages and inner pages.
const RUNS_EACH: u128 = 5;

const PAGE_BYTES: usize = 4_096;

const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];

/// A session as it was written.
pub(super) struct Session {
    id: SessionId,
    listed: SessionRow,
    rows: Vec<RunRow>,
    logs: Vec<(RunId, Vec<StoredEvent>)>,
    nodes: Vec<(RunId, NodeId, StoredNode)>,
    attempts: Vec<(AttemptKey, StoredEvent)>,
    definition: (String, String),
}

/// The result of reading a session.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Why a part of it was not returned. Everything else was returned as it was written.
    pub(super) refused: Option<String>,
}

pub(super) struct Site {
    folder: TempDir,
    whole: Vec<u8>,
    /// Numbers of the pages that hold session data, from 1.
    pages: Vec<usize>,
    pub(super) sessions: Vec<Session>,
}

fn trail(number: u128, name: &str) -> GuidedRunBuilder {
    let mut trail = GuidedRunBuilder::new_guided_run(number, name, &format!("work-of-{name}"))
        .open_node("a")
        .block_attempt("a");
    for (from, to) in [("a", "b"), ("a", "c"), ("c", "d")] {
        let notes = format!("{name} goes from {from} to {to} in run {number}");
        trail = trail.answer_node(from, to, inputs_with_notes(&notes), Vec::new());
    }
    trail.add_checkpoint(Some("d"), "half way").advance_node("d", "end").complete_run()
}

impl Site {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path()).unwrap();
        for number in 1..=RUNS_EACH {
            for (place, name) in (0..).zip(NAMES) {
                // Interleaved, so that the runs share pages.
                trail(number * 3 + place, name).append_to_journal(&journal).await;
            }
        }
        for (place, name) in (1_000..).zip(NAMES) {
            GuidedRunBuilder::new_session_notes(place, name)
                .add_checkpoint(None, name)
                .append_to_journal(&journal)
                .await;
        }
        let mut sessions = Vec::new();
        for listed in journal.list_sessions(Access::local_without_auth(), 9).await.unwrap() {
            sessions.push(read(&journal, listed).await);
        }
        assert_eq!(sessions.len(), NAMES.len());
        journal.close_store().await;
        drop(journal);
        let pages = pages(folder.path());
        let whole = fs::read(file(folder.path())).unwrap();
        Self { folder, whole, pages, sessions }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Offsets at this stride in the pages that hold session data. The start differs in each page.
    pub(super) fn offsets_to_flip(&self, stride: usize) -> impl Iterator<Item = usize> {
        self.pages.iter().enumerate().flat_map(move |(index, number)| {
            let begin = (number - 1) * PAGE_BYTES;
            (begin + index * 31 % stride..begin + PAGE_BYTES).step_by(stride)
        })
    }

    /// Whether SQLite reports a broken page, for which one byte is enough: the damage then affects many rows.
    pub(super) fn has_broken_pages(&self) -> bool {
        let check = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let checked = database(self.folder()).pragma_query_value(None, "quick_check", check);
        checked.ok().as_deref() != Some("ok")
    }

    /// The original database, except for this byte.
    pub(super) fn flip(&self, at: usize, bits: u8) {
        let mut bytes = self.whole.clone();
        bytes[at] ^= bits;
        for beside in ["trackway.db-wal", "trackway.db-shm"] {
            // Files of an earlier round belong to another database.
            let _ = fs::remove_file(self.folder().join(beside));
        }
        fs::write(file(self.folder()), bytes).unwrap();
    }

    /// Reads everything of every session. Returned data must be as it was written.
    pub(super) async fn look(&self, journal: &dyn Journal) -> Vec<Found> {
        let mut found = Vec::new();
        let listed = journal.list_sessions(Access::local_without_auth(), 9).await;
        for session in &self.sessions {
            let mut one = Found::default();
            one.check(listed.as_ref().map_err(Clone::clone), |listed| {
                // The listing may have less of a damaged session, but it names no other session.
                assert!(listed.len() <= self.sessions.len(), "{listed:#?}");
                match listed.iter().find(|row| row.id == session.id) {
                    Some(row) if *row == session.listed => Ok(()),
                    other => Err(format!("listed as {other:?}")),
                }
            });
            session.look(journal, &mut one).await;
            found.push(one);
        }
        found
    }
}

impl Session {
    async fn look(&self, journal: &dyn Journal, found: &mut Found) {
        let rows = journal.list_session_runs(Access::local_without_auth(), self.id.clone()).await;
        found.same(rows, &self.rows);
        for row in &self.rows {
            found.same(journal.find_run(row.id).await, &Some(row.clone()));
        }
        for (run, log) in &self.logs {
            found.same(load_full_log(journal, *run).await, log);
        }
        for (run, node, place) in &self.nodes {
            found.same(journal.find_node(*run, *node).await, &Some(place.clone()));
        }
        for (key, stored) in &self.attempts {
            found.same(journal.find_attempt(key.clone()).await, &Some(stored.clone()));
        }
        for run in &self.rows {
            // An attempt that was never made is not mistaken for another one.
            let Some((key, _)) = self.attempts.iter().find(|(key, _)| key.run == run.id) else {
                continue;
            };
            let other = AttemptKey { digest: "another".to_owned(), ..key.clone() };
            found.same(journal.find_attempt(other).await, &None);
        }
        let (hash, body) = &self.definition;
        match journal.find_pinned_definition(hash.clone()).await {
            // Lost: callers then look in the folders, or else report the run as damaged.
            Ok(None) => found.refused = Some("its definition is lost".to_owned()),
            other => found.same(other, &Some(body.clone())),
        }
    }
}

impl Found {
    #[track_caller]
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, read: Result<T, ReadError>, right: &T) {
        match read {
            Ok(read) => assert_eq!(read, *right),
            Err(error) => self.refused = Some(error.to_string()),
        }
    }

    fn check<T>(&mut self, read: Result<T, ReadError>, check: impl FnOnce(T) -> Result<(), String>) {
        let checked = read.map_err(|error| error.to_string()).and_then(check);
        if let Err(reason) = checked {
            self.refused = Some(reason);
        }
    }
}

async fn read(journal: &dyn Journal, listed: SessionRow) -> Session {
    let rows = journal.list_session_runs(Access::local_without_auth(), listed.id.clone()).await.unwrap();
    let (mut logs, mut nodes, mut attempts) = (Vec::new(), Vec::new(), Vec::new());
    for RunRow { id: run, .. } in &rows {
        let log = load_full_log(journal, *run).await.unwrap();
        for stored in &log {
            if let Some(node) = node_in_event(&stored.event) {
                let place = journal.find_node(*run, node.id).await.unwrap().unwrap();
                nodes.push((*run, node.id, place));
            }
            if let Some(attempt) = attempt_in_event(&stored.event) {
                let (node, ack, digest) = (attempt.node, attempt.ack, attempt.digest.clone());
                attempts.push((AttemptKey { run: *run, node, ack, digest }, stored.clone()));
            }
        }
        logs.push((*run, log));
    }
    let hash = rows.last().unwrap().workflow.version.clone();
    let body = journal.find_pinned_definition(hash.clone()).await.unwrap().unwrap();
    Session { id: listed.id.clone(), listed, rows, logs, nodes, attempts, definition: (hash, body) }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("trackway.db")
}

/// Pages of the tables of session data and of their indexes. None is an overflow page of a long row.
fn pages(folder: &Path) -> Vec<usize> {
    let conn = database(folder);
    let mut statement = conn
        .prepare(
            "SELECT pageno, pagetype FROM dbstat
             WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ?1)",
        )
        .unwrap();
    let mut pages = Vec::new();
    for table in TABLES {
        let found = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        for found in found {
            let (number, kind): (i64, String) = found.unwrap();
            assert_ne!(kind, "overflow");
            pages.push(usize::try_from(number).unwrap());
        }
    }
    drop(statement);
    drop(conn);
    pages
}
