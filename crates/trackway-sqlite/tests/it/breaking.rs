//! A store that cannot write any more says so to everyone and stays stopped; and the fault points.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use trackway_ports::{AppendError, Faults, Journal as _};
use trackway_sqlite::{Options, SqliteJournal};

use crate::helpers::*;

/// Makes every append of a `canceled` event fail: at the insert, or only at the commit.
fn lay_trap(folder: &Path, at_commit: bool) {
    let trap = if at_commit {
        // A reference to nothing that is looked at when the transaction commits.
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

/// Proves X2: after a failed write nobody is told that anything later was written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_commit_stops_the_store_for_good() {
    for at_commit in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path()).unwrap();
        fill(&journal, run(1), 2).await;
        lay_trap(folder.path(), at_commit);
        append(&journal, appending(run(1), 2, [event("three")])).await.unwrap();

        let canceled = trackway_domain::Event::Canceled;
        let failed = append(&journal, appending(run(2), 0, [canceled])).await;
        let Err(AppendError::Broken { reason }) = failed else {
            panic!("expected a broken store: {failed:?}");
        };
        let doing = if at_commit { "committing" } else { "writing" };
        assert!(reason.starts_with(doing), "{reason}");
        for number in 3..6 {
            let later = append(&journal, appending(run(number), 0, [event("no")])).await;
            assert!(matches!(later, Err(AppendError::Broken { .. })));
        }
        // What was written before can be read, and the next process goes on from there.
        assert_eq!(count(&journal, run(1)).await, 3);
        assert_eq!(count(&journal, run(2)).await, 0);
        journal.close().await;
        drop(journal);
        let next = SqliteJournal::open(folder.path()).unwrap();
        assert_eq!(count(&next, run(1)).await, 3);
        assert_eq!(count(&next, run(2)).await, 0);
        append(&next, appending(run(1), 3, [event("four")])).await.unwrap();
    }
}

/// Notes what was reached.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<&'static str>>);

impl Faults for Notes {
    fn reach(&self, point: &'static str) {
        self.0.lock().unwrap().push(point);
    }
}

/// Proves L8: nobody is told before the commit.
#[tokio::test]
async fn fault_points_are_reached_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Arc::new(Notes::default());
    let options = Options { faults: Arc::clone(&notes) as Arc<dyn Faults> };
    let journal = SqliteJournal::open_with(folder.path(), options).unwrap();
    let told = Arc::clone(&notes);
    journal.append(
        appending(run(1), 0, [event("one")]),
        Box::new(move |_| told.0.lock().unwrap().push("done")),
    );
    journal.close().await;
    assert_eq!(
        *notes.0.lock().unwrap(),
        ["store:before-commit", "store:after-commit", "done", "store:after-done"]
    );
}

/// Dies at one point.
#[derive(Debug)]
struct DieAt(&'static str);

impl Faults for DieAt {
    fn reach(&self, point: &'static str) {
        assert_ne!(point, self.0, "as told");
    }
}

/// Proves X2: a death around the commit leaves the append whole or not at all, and unanswered.
#[tokio::test]
async fn a_death_around_the_commit_answers_nobody() {
    for (point, written) in [("store:before-commit", 0), ("store:after-commit", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { faults: Arc::new(DieAt(point)) };
        let journal = SqliteJournal::open_with(folder.path(), options).unwrap();
        let append = appending(run(1), 0, [event("one"), event("two")]);
        // The caller is dropped with the thread, unanswered.
        assert!(hand_in(&journal, append).await.is_err());
        journal.close().await;
        let next = SqliteJournal::open(folder.path()).unwrap();
        assert_eq!(count(&next, run(1)).await, written);
    }
}

/// Proves X2: a panic in one caller's code does not take the store from the others.
#[tokio::test]
async fn a_panicking_caller_leaves_the_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path()).unwrap();
    journal.append(appending(run(1), 0, [event("one")]), Box::new(|_| panic!("as told")));
    fill(&journal, run(2), 2).await;
    assert_eq!(count(&journal, run(1)).await, 1);
    assert_eq!(count(&journal, run(2)).await, 2);
}
