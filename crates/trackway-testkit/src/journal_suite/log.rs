//! The log: appending, reading back, and losing a race.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use trackway_ports::{Append, AppendError, AppendId, Journal, RunFilter};

use super::{StoreUnderTest, fresh, samples::*};

/// Proves X2.
pub async fn an_append_reads_back_as_written(journal: Arc<dyn Journal>) {
    let mut first = Append::new(run(1), 0, at(1_234));
    first.events = vec![event(10), trackway_domain::Event::Started, event(11)];
    let receipt = write(&*journal, first.clone()).await;
    let events = log(&*journal, run(1)).await;
    assert_eq!(events.len(), 3);
    for (index, stored) in events.iter().enumerate() {
        assert_eq!(stored.seq, index as u64 + 1);
        assert_eq!(stored.pos, receipt.first + index as u64);
        assert_eq!(stored.at, at(1_234));
        assert_eq!(stored.event, first.events[index]);
    }
}

/// Proves X2: positions order the events of a run. The order across runs is not defined.
pub async fn positions_grow_with_the_log_of_a_run(journal: Arc<dyn Journal>) {
    let one = write(&*journal, appending(run(1), 0, [1, 2, 3])).await;
    write(&*journal, appending(run(2), 0, [1])).await;
    let three = write(&*journal, appending(run(1), 3, [4, 5])).await;
    let (a, c) = (one.first, three.first);
    assert!(a >= 1 && c > a + 2, "{a} {c}");
    let positions: Vec<u64> = log(&*journal, run(1)).await.iter().map(|e| e.pos).collect();
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
            appending(run(1), after, [number]),
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
    let positions: Vec<u64> = receipts.map(|receipt| receipt.first).collect();
    assert!(positions.is_sorted_by(|a, b| a < b));
}

/// Proves X2: an append whose answer was lost can be looked up.
pub async fn an_append_is_found_by_its_id<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    let of = |id, append: Append| Append { id: Some(AppendId(id)), ..append };
    let first = write(&*journal, of(7, appending(run(1), 0, [1, 2]))).await;
    let second = write(&*journal, of(u64::MAX, appending(run(1), 2, [3]))).await;
    write(&*journal, appending(run(1), 3, [4])).await;
    assert!(is_conflict(&append(&*journal, of(8, appending(run(1), 0, [9]))).await));
    let other = store.open().await;
    for journal in [&journal, &other] {
        for (expected, id, found) in [
            (0, 7, Some(first.first)),
            (2, u64::MAX, Some(second.first)),
            // Another append, an event inside one, one without an id, one that does not exist.
            (0, 8, None),
            (1, 7, None),
            (3, 0, None),
            (4, 7, None),
            (u64::MAX, 7, None),
        ] {
            let receipt = journal.receipt(run(1), expected, AppendId(id)).await.unwrap();
            assert_eq!(receipt.map(|it| it.first), found, "append {id} behind {expected}");
        }
        assert_eq!(journal.receipt(run(2), 0, AppendId(7)).await.unwrap(), None);
    }
}

/// Proves X2.
pub async fn events_are_read_in_pages(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, 1..=10)).await;
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
        let page = journal.events(run(1), after, limit).await.unwrap();
        let found: Vec<u64> = page.iter().map(number).collect();
        assert_eq!(found, expected, "after {after}, limit {limit}");
    }
}

/// Proves X2.
pub async fn events_are_read_after_a_position(journal: Arc<dyn Journal>) {
    // Two alternating runs, so that their positions are interleaved.
    for seq in 0..20 {
        write(&*journal, appending(run(1), seq, [seq + 1])).await;
        write(&*journal, appending(run(2), seq, [seq + 1])).await;
    }
    for id in [run(1), run(2)] {
        let all = log(&*journal, id).await;
        let newest = all.last().unwrap().pos;
        for after in 0..=newest + 2 {
            let found = journal.events_after_pos(id, after, ALL).await.unwrap();
            let expected: Vec<_> = all.iter().filter(|e| e.pos > after).cloned().collect();
            assert_eq!(found, expected, "after position {after}");
            let page = journal.events_after_pos(id, after, 3).await.unwrap();
            assert_eq!(page, expected[..expected.len().min(3)]);
        }
        let none = journal.events_after_pos(id, u64::MAX, ALL).await.unwrap();
        assert!(none.is_empty());
    }
}

/// Proves X2.
pub async fn an_unknown_run_has_no_events(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1])).await;
    assert!(log(&*journal, run(2)).await.is_empty());
    let after_pos = journal.events_after_pos(run(2), 0, ALL).await.unwrap();
    assert!(after_pos.is_empty());
}

/// Proves X2: of two decisions on the same state one is written.
pub async fn an_append_behind_the_log_is_refused(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1, 2])).await;
    for expected in [0, 1] {
        match append(&*journal, appending(run(1), expected, [9])).await {
            Err(AppendError::Conflict { run: of, expected: at }) => {
                assert_eq!((of, at), (run(1), expected))
            }
            other => panic!("expected a conflict, got {other:?}"),
        }
    }
    assert_eq!(numbers(&*journal, run(1)).await, [1, 2]);
    write(&*journal, appending(run(1), 2, [3])).await;
    assert_eq!(numbers(&*journal, run(1)).await, [1, 2, 3]);
}

/// Proves X2: a log never has a gap.
pub async fn an_append_ahead_of_the_log_is_refused(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1])).await;
    for (id, expected) in [(1, 2), (1, u64::MAX), (2, 1)] {
        let outcome = append(&*journal, appending(run(id), expected, [9])).await;
        assert!(is_conflict(&outcome), "{outcome:?}");
    }
    assert_eq!(numbers(&*journal, run(1)).await, [1]);
    assert!(log(&*journal, run(2)).await.is_empty());
}

/// Proves X2: an append that only changes rows races like any other.
pub async fn an_append_without_events_is_refused_behind_the_log(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1])).await;
    let mut late = Append::new(run(1), 0, at(0));
    late.row = Some(row(1));
    late.timers = vec![trackway_ports::TimerChange::Set(timer("t"), at(1))];
    late.outbox = vec![trackway_ports::OutboxChange::Add(
        outbox_id(1),
        trackway_ports::OutboxItem::CancelChild { child: run(2) },
    )];
    assert!(is_conflict(&append(&*journal, late).await));
    assert!(journal.runs(RunFilter::default(), None, ALL).await.unwrap().is_empty());
    assert!(journal.claim_timers(claim_at(10, ALL)).await.unwrap().is_empty());
    assert!(journal.outbox(None, ALL).await.unwrap().is_empty());
}

/// Proves X2.
pub async fn an_append_without_events_changes_rows_alone(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1])).await;
    let mut rows = Append::new(run(1), 1, at(0));
    rows.row = Some(row(1));
    write(&*journal, rows.clone()).await;
    write(&*journal, rows).await;
    assert_eq!(journal.run(run(1)).await.unwrap(), Some(row(1)));
    assert_eq!(numbers(&*journal, run(1)).await, [1]);
}

/// Proves X2: appends that share a commit succeed or fail independently.
pub async fn a_refused_append_leaves_its_neighbours_alone(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1])).await;
    // Handed in together, so that a store which groups commits puts them into one.
    let outcomes: Vec<_> = (1..=500_u64)
        .map(|number| {
            let mut refused = appending(run(1), 0, [number]);
            refused.row = Some(row(1));
            let good = appending(run(1_000 + u128::from(number)), 0, [number]);
            (hand_in(&*journal, refused), hand_in(&*journal, good))
        })
        .collect();
    for (refused, good) in outcomes {
        assert!(is_conflict(&refused.await.unwrap()));
        good.await.unwrap().unwrap();
    }
    assert_eq!(numbers(&*journal, run(1)).await, [1]);
    assert!(journal.runs(RunFilter::default(), None, ALL).await.unwrap().is_empty());
    for number in 1..=500_u64 {
        let id = run(1_000 + u128::from(number));
        assert_eq!(numbers(&*journal, id).await, [number]);
    }
}

/// Proves X2: yields are pipelined, each naming the one before it.
pub async fn appends_to_one_run_may_follow_without_waiting(journal: Arc<dyn Journal>) {
    let outcomes: Vec<_> =
        (0..2_500).map(|seq| hand_in(&*journal, appending(run(1), seq, [seq]))).collect();
    for outcome in outcomes {
        outcome.await.unwrap().unwrap();
    }
    assert!((0..2_500).eq(numbers(&*journal, run(1)).await));
}

/// Proves X2: an append that follows a refused one is refused too.
pub async fn what_follows_a_refused_append_is_refused_too(journal: Arc<dyn Journal>) {
    write(&*journal, appending(run(1), 0, [1])).await;
    let lost = hand_in(&*journal, appending(run(1), 0, [7, 8]));
    let on_top = hand_in(&*journal, appending(run(1), 2, [9]));
    assert!(is_conflict(&lost.await.unwrap()));
    assert!(is_conflict(&on_top.await.unwrap()));
    assert_eq!(numbers(&*journal, run(1)).await, [1]);
}

/// Proves L8, L17: a reader of the first run finds the new run, with its row and the positions that
/// follow.
pub async fn a_run_that_begins_with_an_append_is_there_with_it(journal: Arc<dyn Journal>) {
    let mut parent = appending(run(1), 0, [1, 2]);
    for number in [2, 3] {
        let mut start = appending(run(number), 0, [10 * number as u64]);
        start.row = Some(row(number));
        parent.starts.push(start);
    }
    let receipt = write(&*journal, parent).await;
    let mut positions = Vec::new();
    for number in [2, 3] {
        assert_eq!(numbers(&*journal, run(number)).await, [10 * number as u64]);
        assert_eq!(journal.run(run(number)).await.unwrap(), Some(row(number)));
        positions.push(log(&*journal, run(number)).await[0].pos);
    }
    assert_eq!(positions, receipt.starts);
    let next = write(&*journal, appending(run(1), 2, [3])).await;
    assert!(next.first > receipt.first + 1);
    write(&*journal, appending(run(2), 1, [4])).await;
}

/// Proves L8: a refused append starts no other run, and an append that would start an existing run is
/// refused completely.
pub async fn a_refused_append_begins_no_run(journal: Arc<dyn Journal>) {
    let mut behind = appending(run(1), 7, [1]);
    behind.starts.push(appending(run(2), 0, [2]));
    assert!(is_conflict(&append(&*journal, behind).await));
    assert!(log(&*journal, run(2)).await.is_empty());
    write(&*journal, appending(run(2), 0, [2])).await;
    let mut taken = appending(run(1), 0, [1]);
    taken.starts.push(appending(run(3), 0, [3]));
    taken.starts.push(appending(run(2), 0, [4]));
    assert!(is_conflict(&append(&*journal, taken).await));
    for nothing in [run(1), run(3)] {
        assert!(log(&*journal, nothing).await.is_empty());
    }
}
