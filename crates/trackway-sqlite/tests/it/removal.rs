//! Removing runs from a store on disk: unused files, and crashes during the removal.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use trackway_ports::{AppendError, FaultInjector, Journal as _, RunRemoval};
use trackway_sqlite::{SqliteJournal, SqliteOptions};
use trackway_testkit::journal_suite::guided_samples::opening_append;

use crate::helpers::*;

fn large(word: &str) -> trackway_domain::Event {
    event(&word.repeat(40_000))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.join("blobs")).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

/// Proves T17: a file is removed with the last run that needs it.
#[tokio::test]
async fn blobs_go_with_the_last_run_that_needs_them() {
    let (folder, journal) = fresh_store();
    append(&journal, appending(run_id(1), 0, [large("own"), large("shared")])).await.unwrap();
    append(&journal, appending(run_id(2), 0, [large("shared")])).await.unwrap();
    assert_eq!(files(folder.path()).len(), 2);
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 2)])).await.unwrap();
    assert_eq!(files(folder.path()).len(), 1);
    assert_eq!(count(&journal, run_id(2)).await, 1);
    // A name that is not a hash leads to no file.
    execute(folder.path(), "UPDATE events SET blob = '../trackway.db'");
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(2), 1)])).await.unwrap();
    assert!(folder.path().join("trackway.db").is_file());
    assert_eq!(count(&journal, run_id(2)).await, 0);
    append(&journal, appending(run_id(2), 0, [large("shared")])).await.unwrap();
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(2), 1)])).await.unwrap();
    assert!(files(folder.path()).is_empty());
    assert_eq!(integrity(folder.path()), "ok");
}

/// Panics in the writer at one point, during a removal.
#[derive(Debug)]
struct DieAt(&'static str, std::sync::atomic::AtomicUsize);

impl FaultInjector for DieAt {
    fn reach_fault_point(&self, point: &'static str) {
        let before = if point == self.0 { 1 } else { 0 };
        let left = self.1.fetch_sub(before, std::sync::atomic::Ordering::SeqCst);
        assert!(before == 0 || left > 1, "as told");
    }
}

/// Proves T17: a crash during the removal leaves the run complete or removed, and at most one unused
/// file.
#[tokio::test]
async fn a_death_on_the_way_leaves_all_or_nothing() {
    for (point, passes, events, blobs) in [
        // The append before it also passes the points of a commit.
        ("store:before-commit", 2, 1, 1),
        ("store:after-commit", 2, 0, 1),
        ("store:before-sweep", 1, 0, 1),
        ("store:after-sweep", 1, 0, 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let options =
            SqliteOptions { faults: Arc::new(DieAt(point, passes.into())), ..SqliteOptions::default() };
        let journal = SqliteJournal::open_with_options(folder.path(), options).unwrap();
        append(&journal, appending(run_id(1), 0, [large("own")])).await.unwrap();
        let outcome = journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 1)])).await;
        assert!(matches!(outcome, Err(AppendError::Broken { .. })), "{point}");
        journal.close_store().await;
        let next = SqliteJournal::open(folder.path()).unwrap();
        assert_eq!(count(&next, run_id(1)).await, events, "{point}");
        assert_eq!(files(folder.path()).len(), blobs, "{point}");
        next.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 1)])).await.unwrap();
        assert_eq!(count(&next, run_id(1)).await, 0);
    }
}

/// Proves T17: a blob that one process removes while another is about to name it is written again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blob_that_goes_while_it_is_being_named_comes_back() {
    let (folder, journal) = fresh_store();
    // Another process writes, so this one waits: its file is written, its event is not.
    let other = database(folder.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = enqueue_append(&journal, appending(run_id(1), 0, [large("named")]));
    let written = loop {
        let whole = |path: &PathBuf| path.extension().is_none();
        match files(folder.path()).into_iter().find(whole) {
            Some(path) => break path,
            None => tokio::task::yield_now().await,
        }
    };
    fs::remove_file(&written).unwrap();
    other.execute_batch("COMMIT").unwrap();
    outcome.await.unwrap().unwrap();
    assert!(written.is_file());
    assert_eq!(count(&journal, run_id(1)).await, 1);
}

/// Proves T17: only the removal that fails is refused; the store continues.
#[tokio::test]
async fn a_removal_that_fails_touches_nothing_else() {
    let (folder, journal) = fresh_store();
    append(&journal, opening_append(1)).await.unwrap();
    append(&journal, opening_append(2)).await.unwrap();
    execute(
        folder.path(),
        &format!(
            "CREATE TRIGGER trapped BEFORE DELETE ON runs WHEN old.id = '{}'
             BEGIN SELECT raise(ABORT, 'trapped'); END;",
            run_id(2),
        ),
    );
    let outcome = journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 2), (run_id(2), 2)])).await;
    let Err(AppendError::Broken { reason }) = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("trapped"), "{reason}");
    for number in 1..=2 {
        assert_eq!(count(&journal, run_id(number)).await, 2);
        append(&journal, appending(run_id(number), 2, [event("three")])).await.unwrap();
    }
    journal.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 3)])).await.unwrap();
    assert_eq!(count(&journal, run_id(1)).await, 0);
    assert_eq!(count(&journal, run_id(2)).await, 3);
}
