//! Durable timers.

use std::sync::Arc;

use trackway_domain::{RunId, TimerKey, Timestamp};
use trackway_ports::{Append, DueTimer, Journal, TimerChange};

use super::sample_appends::*;

async fn append_timer_changes(journal: &dyn Journal, id: RunId, timers: Vec<TimerChange>) {
    let mut append = Append::new(id, 0, timestamp(0));
    append.timer_changes = timers;
    append_accepted(journal, append).await;
}

fn set_timer(key: &str, due: i64) -> TimerChange {
    TimerChange::Set(step_timer(key), timestamp(due))
}

async fn list_due_timers(journal: &dyn Journal, now: i64) -> Vec<(RunId, TimerKey, i64)> {
    let timers = journal.claim_due_timers(work_claim_at(now, ALL)).await.unwrap();
    timers.into_iter().map(|DueTimer { run, timer, due }| (run, timer, due.millis())).collect()
}

/// Proves X2: an unfinished sleep continues after any crash.
pub async fn timers_are_due_earliest_first(journal: Arc<dyn Journal>) {
    append_timer_changes(&*journal, run_id(1), vec![set_timer("late", 300), set_timer("early", 100)]).await;
    append_timer_changes(&*journal, run_id(2), vec![set_timer("middle", 200)]).await;
    assert!(list_due_timers(&*journal, 99).await.is_empty());
    assert_eq!(list_due_timers(&*journal, 100).await, [(run_id(1), step_timer("early"), 100)]);
    let all = [
        (run_id(1), step_timer("early"), 100),
        (run_id(2), step_timer("middle"), 200),
        (run_id(1), step_timer("late"), 300),
    ];
    assert_eq!(list_due_timers(&*journal, 1_000).await, all);
    let page = journal.claim_due_timers(work_claim_at(1_000, 2)).await.unwrap();
    assert_eq!(page.len(), 2);
    assert_eq!(page[1].timer, step_timer("middle"));
}

/// Proves X2.
pub async fn a_timer_is_replaced(journal: Arc<dyn Journal>) {
    append_timer_changes(&*journal, run_id(1), vec![set_timer("t", 100)]).await;
    append_timer_changes(&*journal, run_id(1), vec![set_timer("t", 500)]).await;
    // The same name at another run is another timer.
    append_timer_changes(&*journal, run_id(2), vec![set_timer("t", 50)]).await;
    let expected = [(run_id(2), step_timer("t"), 50), (run_id(1), step_timer("t"), 500)];
    assert_eq!(list_due_timers(&*journal, 1_000).await, expected);
    assert_eq!(list_due_timers(&*journal, 100).await.len(), 1);
}

/// Proves X2.
pub async fn a_timer_is_cleared(journal: Arc<dyn Journal>) {
    append_timer_changes(&*journal, run_id(1), vec![set_timer("a", 1), set_timer("b", 2)]).await;
    append_timer_changes(&*journal, run_id(2), vec![set_timer("a", 3)]).await;
    let clear = || vec![TimerChange::Clear(step_timer("a"))];
    append_timer_changes(&*journal, run_id(1), clear()).await;
    // Clearing a missing timer is no error.
    append_timer_changes(&*journal, run_id(1), clear()).await;
    let expected = [(run_id(1), step_timer("b"), 2), (run_id(2), step_timer("a"), 3)];
    assert_eq!(list_due_timers(&*journal, 10).await, expected);
}

/// Proves X2: nothing wakes a run that has ended.
pub async fn all_timers_of_a_run_are_cleared(journal: Arc<dyn Journal>) {
    let deadline = TimerChange::Set(TimerKey::Deadline, timestamp(5));
    append_timer_changes(&*journal, run_id(1), vec![set_timer("a", 1), set_timer("b", 2), deadline]).await;
    append_timer_changes(&*journal, run_id(2), vec![set_timer("a", 3)]).await;
    // The changes of one append are applied in order.
    append_timer_changes(&*journal, run_id(1), vec![set_timer("c", 4), TimerChange::ClearAll]).await;
    assert_eq!(list_due_timers(&*journal, 10).await, [(run_id(2), step_timer("a"), 3)]);
}

/// Proves X2.
pub async fn the_next_timer_lies_after_now(journal: Arc<dyn Journal>) {
    assert_eq!(journal.next_timer_due(timestamp(0)).await.unwrap(), None);
    append_timer_changes(&*journal, run_id(1), vec![set_timer("a", 300), set_timer("b", 100)]).await;
    for (now, next) in
        [(0, Some(timestamp(100))), (99, Some(timestamp(100))), (100, Some(timestamp(300))), (300, None)]
    {
        assert_eq!(journal.next_timer_due(timestamp(now)).await.unwrap(), next, "at {now}");
    }
}

/// Proves X2: after a restart time continues from here, whatever the machine's clock says.
pub async fn the_newest_time_is_that_of_the_last_event(journal: Arc<dyn Journal>) {
    assert_eq!(journal.newest_event_time().await.unwrap(), None);
    for (number, moment) in [(1, 700), (2, 300)] {
        let append = numbered_append(run_id(number), 0, [1]);
        append_accepted(&*journal, Append { at: timestamp(moment), ..append }).await;
    }
    assert_eq!(journal.newest_event_time().await.unwrap(), Some(timestamp(300)));
}

/// Proves X2.
pub async fn any_moment_and_any_name_is_kept(journal: Arc<dyn Journal>) {
    let keys = ["", "deadline", "a:b#c", "ü 🧭", "'; DROP TABLE timers; --"];
    let moments = [i64::MIN, -1, 0, 1, i64::MAX];
    for (key, due) in keys.iter().zip(moments) {
        append_timer_changes(&*journal, run_id(1), vec![set_timer(key, due)]).await;
    }
    let deadline = TimerChange::Set(TimerKey::Deadline, Timestamp(i64::MAX));
    append_timer_changes(&*journal, run_id(2), vec![deadline]).await;
    let mut expected: Vec<_> =
        keys.iter().zip(moments).map(|(key, due)| (run_id(1), step_timer(key), due)).collect();
    expected.push((run_id(2), TimerKey::Deadline, i64::MAX));
    assert_eq!(list_due_timers(&*journal, i64::MAX).await, expected);
    assert_eq!(journal.next_timer_due(timestamp(i64::MIN)).await.unwrap(), Some(timestamp(-1)));
}
