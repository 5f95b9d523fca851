//! Several processes on one folder, simulated by several open journals.

use std::sync::Arc;

use trackway_domain::NodeId;
use trackway_ports::{AppendError, Journal as _, RunRemoval};
use trackway_sqlite::SqliteJournal;
use trackway_testkit::journal_suite::guided_samples::*;

use crate::helpers::*;

/// Proves X3: three processes under load, past several checkpoints, lose and duplicate nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_under_load_share_the_folder() {
    const RUNS: u128 = 40;
    const EVENTS: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    // Bodies of two pages each, so that checkpoints start and the log restarts.
    let body = Arc::new("x".repeat(6_000));
    let mut tasks = Vec::new();
    let journals: Vec<_> = (0..3).map(|_| Arc::new(SqliteJournal::open(folder.path()).unwrap())).collect();
    for (process, journal) in (0..).zip(&journals) {
        for number in 0..RUNS {
            let journal = Arc::clone(journal);
            let body = Arc::clone(&body);
            tasks.push(tokio::spawn(async move {
                for seq in 0..EVENTS {
                    let id = run_id(process * RUNS + number);
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
        journal.close_store().await;
    }
    let reader = SqliteJournal::open_read_only(folder.path()).unwrap();
    for number in 0..3 * RUNS {
        assert_eq!(count(&reader, run_id(number)).await as u64, EVENTS);
    }
    assert_eq!(integrity(folder.path()), "ok");
}

/// Proves T4, T6: agents of two processes answer the same node; each answer becomes one branch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_of_two_processes_is_one_branch() {
    const AGENTS: u128 = 8;
    const ANSWERS: u128 = 10;
    let folder = tempfile::tempdir().unwrap();
    let journals: Vec<_> = (0..2).map(|_| Arc::new(SqliteJournal::open(folder.path()).unwrap())).collect();
    append(&*journals[0], opening_append(1)).await.unwrap();
    let first = NodeId::new(numbered_uuid(1));
    let agents: Vec<_> = (0..AGENTS)
        .map(|agent| {
            let journal = Arc::clone(&journals[usize::from(agent % 2 == 1)]);
            tokio::spawn(async move {
                for answer in 0..ANSWERS {
                    let number = 2 + agent * ANSWERS + answer;
                    loop {
                        let place = journal.find_node(run_id(1), first).await.unwrap().unwrap();
                        let next = advanced_event(1, number, "digest", number);
                        match append(&*journal, guided_append(1, place.head, [next])).await {
                            Ok(_) => break,
                            Err(AppendError::Conflict { .. }) => {}
                            Err(other) => panic!("{other}"),
                        }
                    }
                }
            })
        })
        .collect();
    for agent in agents {
        agent.await.unwrap();
    }
    for journal in &journals {
        let place = journal.find_node(run_id(1), first).await.unwrap().unwrap();
        let answers = AGENTS * ANSWERS;
        assert_eq!(u128::from(place.branch_count), answers);
        assert_eq!(u128::from(place.head), answers + 2);
        for number in 2..2 + answers {
            let key = attempt_key(1, 1, number, "digest");
            assert!(journal.find_attempt(key).await.unwrap().is_some());
            let node = NodeId::new(numbered_uuid(number));
            assert!(journal.find_node(run_id(1), node).await.unwrap().is_some());
        }
    }
}

/// Proves T17: what a process caches about a run does not outlive its removal by another.
#[tokio::test]
async fn a_run_that_another_process_removed_is_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let one = SqliteJournal::open(folder.path()).unwrap();
    let two = SqliteJournal::open(folder.path()).unwrap();
    fill(&one, run_id(1), 3).await;
    two.remove_runs(RunRemoval::removal_of_runs([(run_id(1), 3)])).await.unwrap();
    let late = append(&one, appending(run_id(1), 3, [event("late")])).await;
    assert!(matches!(late, Err(AppendError::Conflict { .. })));
    fill(&one, run_id(1), 2).await;
    assert_eq!(count(&two, run_id(1)).await, 2);
    let late = append(&two, appending(run_id(1), 0, [event("late")])).await;
    assert!(matches!(late, Err(AppendError::Conflict { .. })));
}

/// Proves X3: a process that opens and closes repeatedly disturbs no other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_and_closing_disturbs_nobody() {
    const ROUNDS: u64 = 30;
    let folder = tempfile::tempdir().unwrap();
    let steady = Arc::new(SqliteJournal::open(folder.path()).unwrap());
    let writing = {
        let steady = Arc::clone(&steady);
        tokio::spawn(async move { fill(&*steady, run_id(1), 500).await })
    };
    for round in 0..ROUNDS {
        let visitor = SqliteJournal::open(folder.path()).unwrap();
        append(&visitor, appending(run_id(2), round, [event(&"x".repeat(5_000))])).await.unwrap();
        visitor.close_store().await;
    }
    writing.await.unwrap();
    assert_eq!(count(&*steady, run_id(1)).await, 500);
    assert_eq!(count(&*steady, run_id(2)).await as u64, ROUNDS);
    steady.close_store().await;
    assert_eq!(integrity(folder.path()), "ok");
}
