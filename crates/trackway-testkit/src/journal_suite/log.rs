//! The log: appending, reading back, and losing a race.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use trackway_ports::{Append, AppendError, AppendId, Journal, RunFilter};

use super::{StoreUnderTest, fresh, sample_appends::*};

/// Proves X2.
pub async fn an_append_reads_back_as_written(journal: Arc<dyn Journal>) {
    let mut first = Append::new(run_id(1), 0, timestamp(1_234));
    first.events = vec![numbered_event(10), trackway_domain::Event::Started, numbered_event(11)];
    let receipt = append_accepted(&*journal, first.clone()).await;
    let events = load_log(&*journal, run_id(1)).await;
    assert_eq!(events.len(), 3);
    for (index, stored) in events.iter().enumerate() {
        assert_eq!(stored.seq, index as u64 + 1);
        assert_eq!(stored.pos, receipt.first_position + index as u64);
        assert_eq!(stored.at, timestamp(1_234));
        assert_eq!(stored.event, first.events[index]);
    }
}

/// Proves X2: positions order the events of a run. The order across runs is not defined.
pub async fn positions_grow_with_the_log_of_a_run(journal: Arc<dyn Journal>) {
    let one = append_accepted(&*journal, numbered_append(run_id(1), 0, [1, 2, 3])).await;
    append_accepted(&*journal, numbered_append(run_id(2), 0, [1])).await;
    let three = append_accepted(&*journal, numbered_append(run_id(1), 3, [4, 5])).await;
    let (a, c) = (one.first_position, three.first_position);
    assert!(a >= 1 && c > a + 2, "{a} {c}");
    let positions: Vec<u64> = load_log(&*journal, run_id(1)).await.iter().map(|e| e.pos).collect();
    assert_eq!(positions, [a, a + 1, a + 2, c, c + 1]);
}

/// Proves L8: answers come in the order of the appends to a run, including refusals.
pub async fn answers_come_in_the_order_of_a_runs_appends(journal: Arc<dyn Journal>) {
    const APPENDS: u64 = 3_000;
    let answered = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::new(Notify::new());
    let mut expected = 0;
    for number in 0..APPENDS {
        let answered = Arc::clone(&answered);
        let all = Arc::clone(&all);
        let is_refused = number % 3 == 2;
        let after = if is_refused { expected + 7 } else { expected };
        expected += u64::from(!is_refused);
        journal.append(
            numbered_append(run_id(1), after, [number]),
            Box::new(move |outcome| {
                assert_eq!(outcome.is_err(), is_refused);
                let mut answered = answered.lock().unwrap();
                answered.push((number, outcome.ok()));
                if answered.len() as u64 == APPENDS {
                    all.notify_one();
                }
            }),
        );
    }
    all.notified().await;
    let answered = answered.lock().unwrap();
    assert!((0..APPENDS).eq(answered.iter().map(|(number, _)| *number)));
    let receipts = answered.iter().filter_map(|(_, receipt)| receipt.as_ref());
    let positions: Vec<u64> = receipts.map(|receipt| receipt.first_position).collect();
    assert!(positions.is_sorted_by(|a, b| a < b));
}

/// Proves X2: an append whose answer was lost can be looked up.
pub async fn an_append_is_found_by_its_id<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    let of = |id, append: Append| Append { id: Some(AppendId(id)), ..append };
    let first = append_accepted(&*journal, of(7, numbered_append(run_id(1), 0, [1, 2]))).await;
    let second = append_accepted(&*journal, of(u64::MAX, numbered_append(run_id(1), 2, [3]))).await;
    append_accepted(&*journal, numbered_append(run_id(1), 3, [4])).await;
    assert!(is_conflict(&append_and_wait(&*journal, of(8, numbered_append(run_id(1), 0, [9]))).await));
    let other = store.open_journal().await;
    for journal in [&journal, &other] {
        for (expected, id, found) in [
            (0, 7, Some(first.first_position)),
            (2, u64::MAX, Some(second.first_position)),
            // Another append, an event inside one, one without an id, one that does not exist.
            (0, 8, None),
            (1, 7, None),
            (3, 0, None),
            (4, 7, None),
            (u64::MAX, 7, None),
        ] {
            let receipt = journal.find_append_receipt(run_id(1), expected, AppendId(id)).await.unwrap();
            assert_eq!(receipt.map(|it| it.first_position), found, "append {id} behind {expected}");
        }
        assert_eq!(journal.find_append_receipt(run_id(2), 0, AppendId(7)).await.unwrap(), None);
    }
}

/// Proves X2.
pub async fn events_are_read_in_pages(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, 1..=10)).await;
    for (after, limit, expected) in [
        (0, 3, vec![1, 2, 3]),
        (3, 3, vec![4, 5, 6]),
        (8, 3, vec![9, 10]),
        (10, 3, vec![]),
        (99, 3, vec![]),
        (u64::MAX, 3, vec![]),
        (0, 0, vec![]),
        (9, usize::MAX, vec![10]),
    ] {
        let page = journal.list_events(run_id(1), after, limit).await.unwrap();
        let found: Vec<u64> = page.iter().map(event_number).collect();
        assert_eq!(found, expected, "after {after}, limit {limit}");
    }
}

/// Proves X2.
pub async fn events_are_read_after_a_position(journal: Arc<dyn Journal>) {
    // Two alternating runs, so that their positions are interleaved.
    for seq in 0..20 {
        append_accepted(&*journal, numbered_append(run_id(1), seq, [seq + 1])).await;
        append_accepted(&*journal, numbered_append(run_id(2), seq, [seq + 1])).await;
    }
    for id in [run_id(1), run_id(2)] {
        let all = load_log(&*journal, id).await;
        let newest = all.last().unwrap().pos;
        for after in 0..=newest + 2 {
            let found = journal.list_events_after_position(id, after, ALL).await.unwrap();
            let expected: Vec<_> = all.iter().filter(|e| e.pos > after).cloned().collect();
            assert_eq!(found, expected, "after position {after}");
            let page = journal.list_events_after_position(id, after, 3).await.unwrap();
            assert_eq!(page, expected[..expected.len().min(3)]);
        }
        let none = journal.list_events_after_position(id, u64::MAX, ALL).await.unwrap();
        assert!(none.is_empty());
    }
}

/// Proves X2.
pub async fn an_unknown_run_has_no_events(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    assert!(load_log(&*journal, run_id(2)).await.is_empty());
    let after_pos = journal.list_events_after_position(run_id(2), 0, ALL).await.unwrap();
    assert!(after_pos.is_empty());
}

/// Proves X2: of two decisions on the same state one is written.
pub async fn an_append_behind_the_log_is_refused(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1, 2])).await;
    for expected in [0, 1] {
        match append_and_wait(&*journal, numbered_append(run_id(1), expected, [9])).await {
            Err(AppendError::Conflict { run: of, expected: at }) => {
                assert_eq!((of, at), (run_id(1), expected))
            }
            other => panic!("expected a conflict, got {other:?}"),
        }
    }
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1, 2]);
    append_accepted(&*journal, numbered_append(run_id(1), 2, [3])).await;
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1, 2, 3]);
}

/// Proves X2: a log never has a gap.
pub async fn an_append_ahead_of_the_log_is_refused(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    for (id, expected) in [(1, 2), (1, u64::MAX), (2, 1)] {
        let outcome = append_and_wait(&*journal, numbered_append(run_id(id), expected, [9])).await;
        assert!(is_conflict(&outcome), "{outcome:?}");
    }
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1]);
    assert!(load_log(&*journal, run_id(2)).await.is_empty());
}

/// Proves X2: an append that only changes rows races like any other.
pub async fn an_append_without_events_is_refused_behind_the_log(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    let mut late = Append::new(run_id(1), 0, timestamp(0));
    late.row = Some(run_row(1));
    late.timer_changes = vec![trackway_ports::TimerChange::Set(step_timer("t"), timestamp(1))];
    late.outbox_changes = vec![trackway_ports::OutboxChange::Add(
        outbox_id(1),
        trackway_ports::OutboxItem::CancelChild { child: run_id(2) },
    )];
    assert!(is_conflict(&append_and_wait(&*journal, late).await));
    assert!(journal.list_runs(RunFilter::default(), None, ALL).await.unwrap().is_empty());
    assert!(journal.claim_due_timers(work_claim_at(10, ALL)).await.unwrap().is_empty());
    assert!(journal.list_outbox(None, ALL).await.unwrap().is_empty());
}

/// Proves X2.
pub async fn an_append_without_events_changes_rows_alone(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    let mut rows = Append::new(run_id(1), 1, timestamp(0));
    rows.row = Some(run_row(1));
    append_accepted(&*journal, rows.clone()).await;
    append_accepted(&*journal, rows).await;
    assert_eq!(journal.find_run(run_id(1)).await.unwrap(), Some(run_row(1)));
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1]);
}

/// Proves X2: appends that share a commit succeed or fail independently.
pub async fn a_refused_append_leaves_its_neighbours_alone(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    // Handed in together, so that a store which groups commits puts them into one.
    let outcomes: Vec<_> = (1..=500_u64)
        .map(|number| {
            let mut refused = numbered_append(run_id(1), 0, [number]);
            refused.row = Some(run_row(1));
            let good = numbered_append(run_id(1_000 + u128::from(number)), 0, [number]);
            (enqueue_append(&*journal, refused), enqueue_append(&*journal, good))
        })
        .collect();
    for (refused, good) in outcomes {
        assert!(is_conflict(&refused.await.unwrap()));
        good.await.unwrap().unwrap();
    }
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1]);
    assert!(journal.list_runs(RunFilter::default(), None, ALL).await.unwrap().is_empty());
    for number in 1..=500_u64 {
        let id = run_id(1_000 + u128::from(number));
        assert_eq!(logged_numbers(&*journal, id).await, [number]);
    }
}

/// Proves X2: yields are pipelined, each naming the one before it.
pub async fn appends_to_one_run_may_follow_without_waiting(journal: Arc<dyn Journal>) {
    let outcomes: Vec<_> =
        (0..2_500).map(|seq| enqueue_append(&*journal, numbered_append(run_id(1), seq, [seq]))).collect();
    for outcome in outcomes {
        outcome.await.unwrap().unwrap();
    }
    assert!((0..2_500).eq(logged_numbers(&*journal, run_id(1)).await));
}

/// Proves X2: an append that follows a refused one is refused too.
pub async fn what_follows_a_refused_append_is_refused_too(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    let lost = enqueue_append(&*journal, numbered_append(run_id(1), 0, [7, 8]));
    let on_top = enqueue_append(&*journal, numbered_append(run_id(1), 2, [9]));
    assert!(is_conflict(&lost.await.unwrap()));
    assert!(is_conflict(&on_top.await.unwrap()));
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1]);
}

/// Proves L8, L17: a reader of the first run finds the new run, with its row and the positions that
/// follow.
pub async fn a_run_that_begins_with_an_append_is_there_with_it(journal: Arc<dyn Journal>) {
    let mut parent = numbered_append(run_id(1), 0, [1, 2]);
    for number in [2, 3] {
        let mut start = numbered_append(run_id(number), 0, [10 * number as u64]);
        start.row = Some(run_row(number));
        parent.started_runs.push(start);
    }
    let receipt = append_accepted(&*journal, parent).await;
    let mut positions = Vec::new();
    for number in [2, 3] {
        assert_eq!(logged_numbers(&*journal, run_id(number)).await, [10 * number as u64]);
        assert_eq!(journal.find_run(run_id(number)).await.unwrap(), Some(run_row(number)));
        positions.push(load_log(&*journal, run_id(number)).await[0].pos);
    }
    assert_eq!(positions, receipt.start_positions);
    let next = append_accepted(&*journal, numbered_append(run_id(1), 2, [3])).await;
    assert!(next.first_position > receipt.first_position + 1);
    append_accepted(&*journal, numbered_append(run_id(2), 1, [4])).await;
}

/// Proves L8: a refused append starts no other run, and an append that would start an existing run is
/// refused completely.
pub async fn a_refused_append_begins_no_run(journal: Arc<dyn Journal>) {
    let mut behind = numbered_append(run_id(1), 7, [1]);
    behind.started_runs.push(numbered_append(run_id(2), 0, [2]));
    assert!(is_conflict(&append_and_wait(&*journal, behind).await));
    assert!(load_log(&*journal, run_id(2)).await.is_empty());
    append_accepted(&*journal, numbered_append(run_id(2), 0, [2])).await;
    let mut taken = numbered_append(run_id(1), 0, [1]);
    taken.started_runs.push(numbered_append(run_id(3), 0, [3]));
    taken.started_runs.push(numbered_append(run_id(2), 0, [4]));
    assert!(is_conflict(&append_and_wait(&*journal, taken).await));
    for nothing in [run_id(1), run_id(3)] {
        assert!(load_log(&*journal, nothing).await.is_empty());
    }
}
