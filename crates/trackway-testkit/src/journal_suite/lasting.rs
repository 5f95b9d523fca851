//! Durability: opening again, many concurrent callers, closing.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use trackway_domain::Caller;
use trackway_ports::{AppendError, Journal, OutboxChange, OutboxItem, TimerChange};

use super::{StoreUnderTest, fresh, sample_appends::*};

/// Proves X2.
pub async fn everything_is_there_after_opening_again<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    let caller = Caller::new("tenant", "user");
    let mut append = numbered_append(run_id(1), 0, [1, 2, 3]);
    append.row = Some(run_row(1));
    append.timer_changes = vec![TimerChange::Set(step_timer("t"), timestamp(7))];
    let item = OutboxItem::CancelChild { child: run_id(2) };
    append.outbox_changes = vec![OutboxChange::Add(outbox_id(1), item.clone())];
    append.message_claim = Some(message_claim(&caller, "message", run_id(1)));
    let receipt = append_accepted(&*journal, append).await;
    let before = load_log(&*journal, run_id(1)).await;
    journal.close_store().await;
    drop(journal);

    let journal = store.open_journal().await;
    assert_eq!(load_log(&*journal, run_id(1)).await, before);
    assert_eq!(journal.find_run(run_id(1)).await.unwrap(), Some(run_row(1)));
    assert_eq!(journal.next_timer_due(timestamp(0)).await.unwrap(), Some(timestamp(7)));
    assert_eq!(journal.list_outbox(None, ALL).await.unwrap()[0].item, item);
    let expected = message_claim(&caller, "message", run_id(1));
    let found = journal.find_message_claim(expected.key.clone()).await.unwrap();
    assert_eq!(found, Some(expected));
    // The log continues at its end.
    let next = append_accepted(&*journal, numbered_append(run_id(1), 3, [4])).await;
    assert_eq!(next.first_position, receipt.first_position + 3);
}

/// Proves X2: a read sees every append that was acknowledged before it, by any writer.
pub async fn a_second_opening_sees_what_the_first_wrote<S: StoreUnderTest>() {
    let (store, one) = fresh::<S>().await;
    let two = store.open_journal().await;
    for seq in 0..20 {
        let (writer, reader) = if seq % 2 == 0 { (&one, &two) } else { (&two, &one) };
        append_accepted(&**writer, numbered_append(run_id(1), seq, [seq])).await;
        assert!((0..=seq).eq(logged_numbers(&**reader, run_id(1)).await));
        let late = append_and_wait(&**reader, numbered_append(run_id(1), seq, [99])).await;
        assert!(is_conflict(&late), "{late:?}");
    }
}

/// Proves X2.
pub async fn many_runs_at_once(journal: Arc<dyn Journal>) {
    const RUNS: u128 = 100;
    const EVENTS: u64 = 30;
    let tasks: Vec<_> = (1..=RUNS)
        .map(|number| {
            let journal = Arc::clone(&journal);
            tokio::spawn(async move {
                for seq in 0..EVENTS {
                    append_accepted(&*journal, numbered_append(run_id(number), seq, [seq])).await;
                    // A read sees the append that was just acknowledged.
                    let tail = journal.list_events(run_id(number), seq, ALL).await.unwrap();
                    assert_eq!(tail.len(), 1);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let mut positions = Vec::new();
    for number in 1..=RUNS {
        let events = load_log(&*journal, run_id(number)).await;
        assert_eq!(events.len() as u64, EVENTS);
        assert!(events.is_sorted_by(|a, b| a.pos < b.pos && a.seq + 1 == b.seq));
        positions.extend(events.iter().map(|stored| stored.pos));
    }
    positions.sort_unstable();
    assert!(positions.is_sorted_by(|a, b| a + 1 == *b), "no gap, no position twice");
}

/// Proves X2: at each number of a run exactly one of the racing decisions is written.
pub async fn many_appenders_on_one_run(journal: Arc<dyn Journal>) {
    const APPENDERS: u64 = 16;
    const EACH: u64 = 20;
    let tasks: Vec<_> = (0..APPENDERS)
        .map(|appender| {
            let journal = Arc::clone(&journal);
            tokio::spawn(async move {
                for round in 0..EACH {
                    let number = appender * EACH + round;
                    let mut seen = load_log(&*journal, run_id(1)).await.len() as u64;
                    while is_conflict(
                        &append_and_wait(&*journal, numbered_append(run_id(1), seen, [number])).await,
                    ) {
                        seen = load_log(&*journal, run_id(1)).await.len() as u64;
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let mut found = logged_numbers(&*journal, run_id(1)).await;
    found.sort_unstable();
    assert!((0..APPENDERS * EACH).eq(found));
}

/// Proves X2.
pub async fn what_was_handed_in_before_closing_is_committed<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    let outcomes: Vec<_> =
        (1..=200).map(|number| enqueue_append(&*journal, numbered_append(run_id(number), 0, [1]))).collect();
    journal.close_store().await;
    for outcome in outcomes {
        outcome.await.unwrap().unwrap();
    }
    let journal = store.open_journal().await;
    for number in 1..=200 {
        assert_eq!(logged_numbers(&*journal, run_id(number)).await, [1]);
    }
}

/// Proves X2.
pub async fn after_closing_appends_fail<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    journal.close_store().await;
    let outcome = append_and_wait(&*journal, numbered_append(run_id(1), 1, [2])).await;
    assert!(matches!(outcome, Err(AppendError::Closed)));
    let journal = store.open_journal().await;
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1]);
}

/// Proves X2.
pub async fn closing_twice_is_no_error(journal: Arc<dyn Journal>) {
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    tokio::join!(journal.close_store(), journal.close_store());
    journal.close_store().await;
}

/// Proves L8: `done` may hand in the next append.
pub async fn an_answer_may_lead_to_the_next_append<S: StoreUnderTest>() {
    fn go_on(journal: &Arc<dyn Journal>, seq: u64, end: mpsc::UnboundedSender<u64>) {
        let next = Arc::clone(journal);
        journal.append(
            numbered_append(run_id(1), seq, [seq]),
            Box::new(move |outcome| {
                outcome.unwrap();
                if seq < 50 {
                    go_on(&next, seq + 1, end);
                } else {
                    end.send(seq).unwrap();
                }
            }),
        );
    }
    let (_store, journal) = fresh::<S>().await;
    let (sender, mut receiver) = mpsc::unbounded_channel();
    go_on(&journal, 0, sender);
    assert_eq!(receiver.recv().await, Some(50));
    assert!((0..=50).eq(logged_numbers(&*journal, run_id(1)).await));
}

/// Proves X2.
pub async fn a_caller_that_went_away_disturbs_nobody(journal: Arc<dyn Journal>) {
    drop(enqueue_append(&*journal, numbered_append(run_id(1), 0, [1])));
    let (sender, receiver) = oneshot::channel::<()>();
    drop(receiver);
    journal.append(numbered_append(run_id(1), 1, [2]), Box::new(move |_| assert!(sender.send(()).is_err())));
    append_accepted(&*journal, numbered_append(run_id(1), 2, [3])).await;
    // A read that is dropped before it ends releases its slot.
    for _ in 0..100 {
        let read = journal.list_events(run_id(1), 0, ALL);
        tokio::select! { biased; _ = std::future::ready(()) => {}, _ = read => {} }
    }
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1, 2, 3]);
}
