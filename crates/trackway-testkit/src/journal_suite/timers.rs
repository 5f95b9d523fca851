//! Durable timers.

use std::sync::Arc;

use trackway_domain::{RunId, Timer, Timestamp};
use trackway_ports::{Append, DueTimer, Journal, TimerChange};

use super::samples::*;

async fn change(journal: &dyn Journal, id: RunId, timers: Vec<TimerChange>) {
    let mut append = Append::new(id, 0, at(0));
    append.timers = timers;
    write(journal, append).await;
}

fn set(key: &str, due: i64) -> TimerChange {
    TimerChange::Set(timer(key), at(due))
}

async fn due(journal: &dyn Journal, now: i64) -> Vec<(RunId, Timer, i64)> {
    let timers = journal.claim_timers(claim_at(now, ALL)).await.unwrap();
    timers.into_iter().map(|DueTimer { run, timer, due }| (run, timer, due.millis())).collect()
}

/// Proves X2: an unfinished sleep continues after any crash.
pub async fn timers_are_due_earliest_first(journal: Arc<dyn Journal>) {
    change(&*journal, run(1), vec![set("late", 300), set("early", 100)]).await;
    change(&*journal, run(2), vec![set("middle", 200)]).await;
    assert!(due(&*journal, 99).await.is_empty());
    assert_eq!(due(&*journal, 100).await, [(run(1), timer("early"), 100)]);
    let all = [
        (run(1), timer("early"), 100),
        (run(2), timer("middle"), 200),
        (run(1), timer("late"), 300),
    ];
    assert_eq!(due(&*journal, 1_000).await, all);
    let page = journal.claim_timers(claim_at(1_000, 2)).await.unwrap();
    assert_eq!(page.len(), 2);
    assert_eq!(page[1].timer, timer("middle"));
}

/// Proves X2.
pub async fn a_timer_is_replaced(journal: Arc<dyn Journal>) {
    change(&*journal, run(1), vec![set("t", 100)]).await;
    change(&*journal, run(1), vec![set("t", 500)]).await;
    // The same name at another run is another timer.
    change(&*journal, run(2), vec![set("t", 50)]).await;
    let expected = [(run(2), timer("t"), 50), (run(1), timer("t"), 500)];
    assert_eq!(due(&*journal, 1_000).await, expected);
    assert_eq!(due(&*journal, 100).await.len(), 1);
}

/// Proves X2.
pub async fn a_timer_is_cleared(journal: Arc<dyn Journal>) {
    change(&*journal, run(1), vec![set("a", 1), set("b", 2)]).await;
    change(&*journal, run(2), vec![set("a", 3)]).await;
    let clear = || vec![TimerChange::Clear(timer("a"))];
    change(&*journal, run(1), clear()).await;
    // Clearing a missing timer is no error.
    change(&*journal, run(1), clear()).await;
    let expected = [(run(1), timer("b"), 2), (run(2), timer("a"), 3)];
    assert_eq!(due(&*journal, 10).await, expected);
}

/// Proves X2: nothing wakes a run that has ended.
pub async fn all_timers_of_a_run_are_cleared(journal: Arc<dyn Journal>) {
    let deadline = TimerChange::Set(Timer::Deadline, at(5));
    change(&*journal, run(1), vec![set("a", 1), set("b", 2), deadline]).await;
    change(&*journal, run(2), vec![set("a", 3)]).await;
    // The changes of one append are applied in order.
    change(&*journal, run(1), vec![set("c", 4), TimerChange::ClearAll]).await;
    assert_eq!(due(&*journal, 10).await, [(run(2), timer("a"), 3)]);
}

/// Proves X2.
pub async fn the_next_timer_lies_after_now(journal: Arc<dyn Journal>) {
    assert_eq!(journal.next_timer(at(0)).await.unwrap(), None);
    change(&*journal, run(1), vec![set("a", 300), set("b", 100)]).await;
    for (now, next) in [(0, Some(at(100))), (99, Some(at(100))), (100, Some(at(300))), (300, None)]
    {
        assert_eq!(journal.next_timer(at(now)).await.unwrap(), next, "at {now}");
    }
}

/// Proves X2: after a restart time continues from here, whatever the machine's clock says.
pub async fn the_newest_time_is_that_of_the_last_event(journal: Arc<dyn Journal>) {
    assert_eq!(journal.newest_time().await.unwrap(), None);
    for (number, moment) in [(1, 700), (2, 300)] {
        let append = appending(run(number), 0, [1]);
        write(&*journal, Append { at: at(moment), ..append }).await;
    }
    assert_eq!(journal.newest_time().await.unwrap(), Some(at(300)));
}

/// Proves X2.
pub async fn any_moment_and_any_name_is_kept(journal: Arc<dyn Journal>) {
    let keys = ["", "deadline", "a:b#c", "ü 🧭", "'; DROP TABLE timers; --"];
    let moments = [i64::MIN, -1, 0, 1, i64::MAX];
    for (key, due) in keys.iter().zip(moments) {
        change(&*journal, run(1), vec![set(key, due)]).await;
    }
    let deadline = TimerChange::Set(Timer::Deadline, Timestamp(i64::MAX));
    change(&*journal, run(2), vec![deadline]).await;
    let mut expected: Vec<_> =
        keys.iter().zip(moments).map(|(key, due)| (run(1), timer(key), due)).collect();
    expected.push((run(2), Timer::Deadline, i64::MAX));
    assert_eq!(due(&*journal, i64::MAX).await, expected);
    assert_eq!(journal.next_timer(at(i64::MIN)).await.unwrap(), Some(at(-1)));
}
