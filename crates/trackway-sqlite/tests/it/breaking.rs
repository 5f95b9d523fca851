//! A store that can no longer write reports it to every caller and stays stopped; and the fault
//! points.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use trackway_ports::{AppendError, FaultInjector, Journal as _};
use trackway_sqlite::{SqliteJournal, SqliteOptions};

use crate::helpers::*;

/// Makes every append of a `canceled` event fail: at the insert, or only at the commit.
fn lay_trap(folder: &Path, at_commit: bool) {
    let trap = if at_commit {
        // A foreign key to a missing row, which is checked when the transaction commits.
        "CREATE TABLE elsewhere (id INTEGER PRIMARY KEY);
         CREATE TABLE trap (id REFERENCES elsewhere (id) DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER trapped AFTER INSERT ON events WHEN new.kind = 'canceled'
         BEGIN INSERT INTO trap VALUES (1); END;"
    } else {
        "CREATE TRIGGER trapped AFTER INSERT ON events WHEN new.kind = 'canceled'
         BEGIN SELECT raise(FAIL, 'trapped'); END;"
    };
    database(folder).execute_batch(trap).unwrap();
}

/// Proves X2: after a failed write no later append is acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_commit_stops_the_store_for_good() {
    for at_commit in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path()).unwrap();
        fill(&journal, run_id(1), 2).await;
        lay_trap(folder.path(), at_commit);
        append(&journal, appending(run_id(1), 2, [event("three")])).await.unwrap();

        let canceled = trackway_domain::Event::Canceled;
        let failed = append(&journal, appending(run_id(2), 0, [canceled])).await;
        let Err(AppendError::Broken { reason }) = failed else {
            panic!("expected a broken store: {failed:?}");
        };
        let doing = if at_commit { "committing" } else { "writing" };
        assert!(reason.starts_with(doing), "{reason}");
        for number in 3..6 {
            let later = append(&journal, appending(run_id(number), 0, [event("no")])).await;
            assert!(matches!(later, Err(AppendError::Broken { .. })));
        }
        // Earlier events can be read, and the next process continues from there.
        assert_eq!(count(&journal, run_id(1)).await, 3);
        assert_eq!(count(&journal, run_id(2)).await, 0);
        journal.close_store().await;
        drop(journal);
        let next = SqliteJournal::open(folder.path()).unwrap();
        assert_eq!(count(&next, run_id(1)).await, 3);
        assert_eq!(count(&next, run_id(2)).await, 0);
        append(&next, appending(run_id(1), 3, [event("four")])).await.unwrap();
    }
}

/// Records the points that were reached.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<&'static str>>);

impl FaultInjector for Notes {
    fn reach_fault_point(&self, point: &'static str) {
        self.0.lock().unwrap().push(point);
    }
}

/// Proves L8: no answer comes before the commit.
#[tokio::test]
async fn fault_points_are_reached_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Arc::new(Notes::default());
    let options =
        SqliteOptions { faults: Arc::clone(&notes) as Arc<dyn FaultInjector>, ..SqliteOptions::default() };
    let journal = SqliteJournal::open_with_options(folder.path(), options).unwrap();
    let told = Arc::clone(&notes);
    journal.append(
        appending(run_id(1), 0, [event("one")]),
        Box::new(move |_| told.0.lock().unwrap().push("done")),
    );
    journal.close_store().await;
    assert_eq!(
        *notes.0.lock().unwrap(),
        ["store:before-commit", "store:after-commit", "done", "store:after-done"]
    );
}

/// Panics at one point.
#[derive(Debug)]
struct DieAt(&'static str);

impl FaultInjector for DieAt {
    fn reach_fault_point(&self, point: &'static str) {
        assert_ne!(point, self.0, "as told");
    }
}

/// Proves X2: a crash around the commit leaves the append complete or absent, and unanswered.
#[tokio::test]
async fn a_death_around_the_commit_answers_nobody() {
    for (point, written) in [("store:before-commit", 0), ("store:after-commit", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteOptions { faults: Arc::new(DieAt(point)), ..SqliteOptions::default() };
        let journal = SqliteJournal::open_with_options(folder.path(), options).unwrap();
        let append = appending(run_id(1), 0, [event("one"), event("two")]);
        // The callback is dropped with the thread, without an answer.
        assert!(enqueue_append(&journal, append).await.is_err());
        journal.close_store().await;
        let next = SqliteJournal::open(folder.path()).unwrap();
        assert_eq!(count(&next, run_id(1)).await, written);
    }
}

/// Proves X2: a panic in one caller's code does not stop the store for the others.
#[tokio::test]
async fn a_panicking_caller_leaves_the_others_alone() {
    let (_folder, journal) = fresh_store();
    journal.append(appending(run_id(1), 0, [event("one")]), Box::new(|_| panic!("as told")));
    fill(&journal, run_id(2), 2).await;
    assert_eq!(count(&journal, run_id(1)).await, 1);
    assert_eq!(count(&journal, run_id(2)).await, 2);
}

/// Proves X2, X5: nothing was written, so the same append can be handed in again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_another_process_has_locked_is_waited_for_and_then_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { busy_wait: Duration::from_millis(20), ..SqliteOptions::default() };
    let journal = SqliteJournal::open_with_options(folder.path(), options).unwrap();
    fill(&journal, run_id(1), 2).await;
    let other = database(folder.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for _ in 0..2 {
        let refused = append(&journal, appending(run_id(1), 2, [event("three")])).await;
        assert!(matches!(refused, Err(AppendError::Unavailable { .. })), "{refused:?}");
    }
    assert_eq!(count(&journal, run_id(1)).await, 2);
    other.execute_batch("ROLLBACK").unwrap();
    fill_from(&journal, run_id(1), 2, 4).await;
    assert_eq!(count(&journal, run_id(1)).await, 4);
}

/// Proves X2, X5: a blob that cannot be written refuses only its own append.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blob_that_cannot_be_written_refuses_its_append_alone() {
    let (folder, journal) = fresh_store();
    let blobs = folder.path().join("blobs");
    std::fs::remove_dir(&blobs).unwrap();
    std::fs::write(&blobs, "in the way").unwrap();
    let large = || appending(run_id(1), 0, [event(&"x".repeat(100_000))]);
    let refused = enqueue_append(&journal, large());
    let small = enqueue_append(&journal, appending(run_id(2), 0, [event("small")]));
    let refused = refused.await.unwrap();
    assert!(matches!(refused, Err(AppendError::Unavailable { .. })), "{refused:?}");
    small.await.unwrap().unwrap();
    std::fs::remove_file(&blobs).unwrap();
    std::fs::create_dir(&blobs).unwrap();
    append(&journal, large()).await.unwrap();
    assert_eq!(count(&journal, run_id(1)).await, 1);
}
