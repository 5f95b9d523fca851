//! Real processes on one folder: they open it at the same moment while it is fresh, and write to the
//! same run.

use std::{
    path::Path,
    process::{Child, Command},
    sync::{Arc, Barrier},
    thread,
};

use trackway_ports::{AppendError, Journal as _};
use trackway_sqlite::SqliteJournal;
use trackway_testkit::load_full_log;

use crate::helpers::*;

/// Passes the folder to a child: this binary, started again by the test below.
const FOLDER: &str = "TRACKWAY_PROCESSES_TEST_FOLDER";

/// The number of the child.
const NUMBER: &str = "TRACKWAY_PROCESSES_TEST_NUMBER";

const CHILDREN: usize = 4;
const EVENTS: usize = 25;

#[expect(clippy::disallowed_methods, reason = "how a test tells its own child process what to do")]
fn child_setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn start_child(folder: &Path, number: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::processes_write_to_one_run_of_a_fresh_folder"])
        .env(FOLDER, folder)
        .env(NUMBER, number.to_string())
        .spawn()
        .unwrap()
}

/// Appends its events at the end of the log, and tries again after each lost race.
async fn write_all(folder: &Path, number: &str) {
    let journal = SqliteJournal::open(folder).unwrap();
    let mut seen = 0;
    for event_number in 0..EVENTS {
        let text = format!("{number} {event_number}");
        loop {
            match append(&journal, appending(run_id(1), seen, [event(&text)])).await {
                Ok(_) => {
                    seen += 1;
                    break;
                }
                Err(AppendError::Conflict { .. }) => {
                    seen = load_full_log(&journal, run_id(1)).await.unwrap().len() as u64;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    journal.close_store().await;
}

/// Proves X3, T4: exactly one of several processes wins each number, and nothing is lost or
/// duplicated.
#[tokio::test]
async fn processes_write_to_one_run_of_a_fresh_folder() {
    if let (Some(folder), Some(number)) = (child_setting(FOLDER), child_setting(NUMBER)) {
        return write_all(Path::new(&folder), &number).await;
    }
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("fresh");
    let children: Vec<_> = (0..CHILDREN).map(|number| start_child(&folder, number)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let journal = SqliteJournal::open_read_only(&folder).unwrap();
    let found = load_full_log(&journal, run_id(1)).await.unwrap();
    let mut found: Vec<_> = found.into_iter().map(|stored| stored.event).collect();
    for number in 0..CHILDREN {
        for event_number in 0..EVENTS {
            let wanted = event(&format!("{number} {event_number}"));
            let place = found.iter().position(|it| *it == wanted).unwrap();
            found.remove(place);
        }
    }
    assert!(found.is_empty());
    assert_eq!(integrity(&folder), "ok");
}

/// Proves X3: the first process creates the database, and no other process fails.
#[tokio::test]
async fn a_fresh_folder_may_be_opened_by_many_at_once() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let start = Arc::new(Barrier::new(8));
        let openings: Vec<_> = (0..8)
            .map(|_| {
                let (start, path) = (Arc::clone(&start), folder.path().to_owned());
                thread::spawn(move || {
                    start.wait();
                    SqliteJournal::open(&path)
                })
            })
            .collect();
        let journals: Vec<_> = openings.into_iter().map(|opening| opening.join().unwrap().unwrap()).collect();
        for (seq, journal) in (0..).zip(&journals) {
            append(journal, appending(run_id(1), seq, [event("one")])).await.unwrap();
        }
        assert_eq!(count(&journals[0], run_id(1)).await, 8);
    }
}

/// Proves X3: opening waits for a long transaction of another process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_waits_for_a_writer() {
    for prepare in [
        // The database is empty, and does not use a write-ahead log yet.
        "CREATE TABLE t (x)",
        "PRAGMA journal_mode = wal; CREATE TABLE t (x)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        execute(folder.path(), prepare);
        let other = database(folder.path());
        other.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").unwrap();
        let path = folder.path().to_owned();
        let (sender, started) = std::sync::mpsc::channel();
        let opening = thread::spawn(move || {
            sender.send(()).unwrap();
            SqliteJournal::open(&path)
        });
        started.recv().unwrap();
        // why: the opening must meet the lock; if it comes later it proves less, and does not fail.
        thread::sleep(std::time::Duration::from_millis(200));
        other.execute_batch("COMMIT").unwrap();
        let journal = opening.join().unwrap().unwrap();
        fill(&journal, run_id(1), 2).await;
        // With a migrated database it does not even need to wait.
        other.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)").unwrap();
        let beside = SqliteJournal::open(folder.path()).unwrap();
        assert_eq!(count(&beside, run_id(1)).await, 2);
        let waiting = enqueue_append(&beside, appending(run_id(1), 2, [event("three")]));
        other.execute_batch("COMMIT").unwrap();
        waiting.await.unwrap().unwrap();
    }
}
