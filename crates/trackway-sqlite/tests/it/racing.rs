//! Several processes on one folder, played by several open journals.

use std::sync::Arc;

use trackway_ports::{AppendError, Journal as _};
use trackway_sqlite::SqliteJournal;

use crate::helpers::*;

/// Proves X3: expected version settles races, whoever takes part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_processes_on_one_run_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let one = SqliteJournal::open(folder.path()).unwrap();
    let two = SqliteJournal::open(folder.path()).unwrap();
    for seq in 0..50 {
        let first = hand_in(&one, appending(run(1), seq, [event("one")]));
        let second = hand_in(&two, appending(run(1), seq, [event("two")]));
        let outcomes = [first.await.unwrap(), second.await.unwrap()];
        let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(won, 1, "{outcomes:?}");
        assert!(
            outcomes.iter().any(|outcome| matches!(outcome, Err(AppendError::Conflict { .. })))
        );
    }
    assert_eq!(count(&one, run(1)).await, 50);
    assert_eq!(count(&two, run(1)).await, 50);
}

/// Proves X3: three processes under load, past several checkpoints, lose and double nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_under_load_share_the_folder() {
    const RUNS: u128 = 40;
    const EVENTS: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    // Bodies of two pages each, so that checkpoints begin and the log starts anew.
    let body = Arc::new("x".repeat(6_000));
    let mut tasks = Vec::new();
    let journals: Vec<_> =
        (0..3).map(|_| Arc::new(SqliteJournal::open(folder.path()).unwrap())).collect();
    for (process, journal) in (0..).zip(&journals) {
        for number in 0..RUNS {
            let journal = Arc::clone(journal);
            let body = Arc::clone(&body);
            tasks.push(tokio::spawn(async move {
                for seq in 0..EVENTS {
                    let id = run(process * RUNS + number);
                    let outcome = append(&*journal, appending(id, seq, [event(&body)])).await;
                    outcome.unwrap();
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    for journal in &journals {
        journal.close().await;
    }
    let reader = SqliteJournal::open_read_only(folder.path()).unwrap();
    for number in 0..3 * RUNS {
        assert_eq!(count(&reader, run(number)).await as u64, EVENTS);
    }
    let check: String = database(folder.path())
        .pragma_query_value(None, "integrity_check", |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}
