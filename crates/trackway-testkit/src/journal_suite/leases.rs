//! Leases: who drives a run, and who handles due work.

use std::sync::Arc;

use trackway_domain::{RunId, Timestamp};
use trackway_ports::{
    Append, AppendError, AppendFence, AppendReceipt, ClaimedRun, DriverEpoch, HookChange, HookTarget,
    Journal, OutboxChange, OutboxItem, RunLease, RunRow, TimerChange, WorkClaim, WorkerLease,
};

use super::{StoreUnderTest, fresh, sample_appends::*};

fn work_claim_of(number: u128, now: i64) -> WorkClaim {
    WorkClaim { worker: worker_id(number), now: timestamp(now), limit: ALL }
}

async fn renew_lease(journal: &dyn Journal, number: u128, until: i64, now: i64) {
    journal
        .acquire_or_renew_lease(worker_id(number), WorkerLease::Until(timestamp(until)), timestamp(now))
        .await
        .unwrap();
}

/// The first append of a run that this worker drives.
fn first_append(id: u128, by: u128) -> Append {
    let mut first = numbered_append(run_id(id), 0, [1]);
    first.row = Some(run_row(id));
    first.worker = Some(worker_id(by));
    first.fence = AppendFence::TakeOver(DriverEpoch(1));
    first
}

fn fenced_append(epoch: u64, append: Append) -> Append {
    Append { fence: AppendFence::AtEpoch(DriverEpoch(epoch)), ..append }
}

async fn find_lease(journal: &dyn Journal, id: u128) -> (u64, Option<u128>) {
    let RunLease { epoch, driver } = journal.find_run_lease(run_id(id)).await.unwrap().unwrap();
    (epoch.0, driver.map(|driver| driver.0.as_u128()))
}

fn is_fenced(outcome: &Result<AppendReceipt, AppendError>) -> bool {
    matches!(outcome, Err(AppendError::Fenced { .. }))
}

fn run_number(id: RunId) -> u128 {
    (1..=100).find(|number| run_id(*number) == id).expect("one of the suite's runs")
}

fn claimed_numbers(claimed: Vec<ClaimedRun>) -> Vec<(u128, u64)> {
    claimed.into_iter().map(|it| (run_number(it.run), it.epoch.0)).collect()
}

/// Proves X3: a decision under a stale lease is not written.
pub async fn a_stale_lease_writes_nothing<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    renew_lease(&*journal, 1, 100, 0).await;
    renew_lease(&*journal, 2, 1_000, 0).await;
    append_accepted(&*journal, first_append(1, 1)).await;
    assert_eq!(find_lease(&*journal, 1).await, (1, Some(1)));
    append_accepted(&*journal, fenced_append(1, numbered_append(run_id(1), 1, [2]))).await;

    // The first lease has ended; its worker does not know that yet.
    let other = store.open_journal().await;
    assert_eq!(claimed_numbers(other.claim_abandoned_runs(work_claim_of(2, 200)).await.unwrap()), [(1, 2)]);
    assert_eq!(find_lease(&*journal, 1).await, (2, Some(2)));
    for epoch in [0, 1, 3, u64::MAX] {
        let mut stale = fenced_append(epoch, numbered_append(run_id(1), 2, [9]));
        stale.timer_changes = vec![TimerChange::Set(step_timer("t"), timestamp(1))];
        let outcome = append_and_wait(&*journal, stale).await;
        assert!(is_fenced(&outcome), "epoch {epoch}: {outcome:?}");
    }
    let taken = Append { fence: AppendFence::TakeOver(DriverEpoch(2)), ..numbered_append(run_id(1), 2, [9]) };
    assert!(is_fenced(&append_and_wait(&*journal, taken).await));
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1, 2]);
    assert_eq!(journal.next_timer_due(timestamp(0)).await.unwrap(), None);

    // The new driver continues, and decisions without the driver are still possible.
    append_accepted(&*other, fenced_append(2, numbered_append(run_id(1), 2, [3]))).await;
    append_accepted(&*journal, numbered_append(run_id(1), 3, [4])).await;
    assert_eq!(logged_numbers(&*journal, run_id(1)).await, [1, 2, 3, 4]);
    assert_eq!(find_lease(&*journal, 1).await, (2, Some(2)));
}

/// Proves X3: a run that waits has no driver, and the worker that brings the answer becomes its
/// driver.
pub async fn a_run_that_waits_can_be_taken(journal: Arc<dyn Journal>) {
    renew_lease(&*journal, 1, 1_000, 0).await;
    renew_lease(&*journal, 2, 1_000, 0).await;
    append_accepted(&*journal, first_append(1, 1)).await;
    let answer = |epoch| {
        let mut answer = numbered_append(run_id(1), 2, [3]);
        answer.row = Some(run_row(1));
        answer.worker = Some(worker_id(2));
        answer.fence = AppendFence::TakeOver(DriverEpoch(epoch));
        answer
    };
    let mut waits = fenced_append(1, numbered_append(run_id(1), 1, [2]));
    waits.row = Some(RunRow { runnable: false, ..run_row(1) });
    append_accepted(&*journal, waits).await;
    assert_eq!(find_lease(&*journal, 1).await, (1, None));
    for epoch in [0, 1, 3] {
        assert!(is_fenced(&append_and_wait(&*journal, answer(epoch)).await), "epoch {epoch}");
    }
    append_accepted(&*journal, answer(2)).await;
    assert_eq!(find_lease(&*journal, 1).await, (2, Some(2)));
    assert!(is_fenced(
        &append_and_wait(&*journal, fenced_append(1, numbered_append(run_id(1), 3, [9]))).await
    ));

    // A parked run keeps its driver, and one that has ended has none.
    let mut parks = fenced_append(2, numbered_append(run_id(1), 3, [4]));
    parks.row = Some(RunRow { runnable: false, parked: true, ..run_row(1) });
    append_accepted(&*journal, parks).await;
    assert_eq!(find_lease(&*journal, 1).await, (2, Some(2)));
    let mut ends = fenced_append(2, numbered_append(run_id(1), 4, [5]));
    ends.row = Some(RunRow { runnable: false, ..run_row(1) });
    append_accepted(&*journal, ends).await;
    assert_eq!(find_lease(&*journal, 1).await, (2, None));
    assert_eq!(journal.find_run_lease(run_id(9)).await.unwrap(), None);
}

/// Proves X2, X3: the work of a dead worker is claimed, once.
pub async fn runs_of_a_lost_worker_are_claimed_once(journal: Arc<dyn Journal>) {
    renew_lease(&*journal, 1, 100, 0).await;
    renew_lease(&*journal, 2, 1_000, 0).await;
    renew_lease(&*journal, 3, 1_000, 0).await;
    for id in 1..=5 {
        append_accepted(&*journal, first_append(id, 1)).await;
    }
    append_accepted(&*journal, first_append(6, 2)).await;
    let mut waits = fenced_append(1, numbered_append(run_id(5), 1, [2]));
    waits.row = Some(RunRow { runnable: false, ..run_row(5) });
    append_accepted(&*journal, waits).await;
    let mut nobodys = numbered_append(run_id(7), 0, [1]);
    nobodys.row = Some(RunRow { runnable: false, parked: true, ..run_row(7) });
    append_accepted(&*journal, nobodys).await;

    // While the first is alive, only runs without a driver can be claimed.
    assert_eq!(claimed_numbers(journal.claim_abandoned_runs(work_claim_of(2, 99)).await.unwrap()), [(7, 1)]);
    let two = WorkClaim { limit: 2, ..work_claim_of(2, 100) };
    assert_eq!(claimed_numbers(journal.claim_abandoned_runs(two).await.unwrap()), [(1, 2), (2, 2)]);
    assert_eq!(
        claimed_numbers(journal.claim_abandoned_runs(work_claim_of(3, 100)).await.unwrap()),
        [(3, 2), (4, 2)]
    );
    for number in [2, 3] {
        assert!(journal.claim_abandoned_runs(work_claim_of(number, 100)).await.unwrap().is_empty());
    }
    // A released lease ends at once, and a renewed one stays alive.
    journal.release_lease(worker_id(2)).await.unwrap();
    renew_lease(&*journal, 3, 2_000, 500).await;
    let claimed = claimed_numbers(journal.claim_abandoned_runs(work_claim_of(1, 1_500)).await.unwrap());
    assert_eq!(claimed, [(1, 3), (2, 3), (6, 2), (7, 2)]);
}

/// Proves X3: a process with an exclusive lease takes over at once.
pub async fn a_sole_lease_ends_all_others<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    journal.acquire_or_renew_lease(worker_id(1), WorkerLease::Exclusive, timestamp(0)).await.unwrap();
    append_accepted(&*journal, first_append(1, 1)).await;
    assert!(journal.claim_abandoned_runs(work_claim_of(2, i64::MAX - 1)).await.unwrap().is_empty());
    let next = store.open_journal().await;
    next.acquire_or_renew_lease(worker_id(2), WorkerLease::Exclusive, timestamp(1)).await.unwrap();
    assert_eq!(claimed_numbers(next.claim_abandoned_runs(work_claim_of(2, 1)).await.unwrap()), [(1, 2)]);
    assert!(is_fenced(
        &append_and_wait(&*journal, fenced_append(1, numbered_append(run_id(1), 1, [9]))).await
    ));
    // It gets its claimed work again until the work is done.
    let mut sleeps = fenced_append(2, numbered_append(run_id(1), 1, [2]));
    sleeps.timer_changes = vec![TimerChange::Set(step_timer("t"), timestamp(5))];
    append_accepted(&*next, sleeps).await;
    for _ in 0..2 {
        assert_eq!(next.claim_due_timers(work_claim_of(2, 5)).await.unwrap().len(), 1);
    }
}

/// Proves X3: one worker handles due work, and another one if that worker is lost.
pub async fn what_is_due_is_claimed_by_one_worker<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    renew_lease(&*journal, 1, 100, 0).await;
    renew_lease(&*journal, 2, 1_000, 0).await;
    let set_hook =
        || HookChange::Set { id: "hook".to_owned(), target: HookTarget(serde_json::json!({})), after: 0 };
    let mut first = first_append(1, 1);
    first.timer_changes = vec![TimerChange::Set(step_timer("t"), timestamp(10))];
    first.hook_changes = vec![set_hook()];
    first.at = timestamp(10);
    let errand = || OutboxItem::CancelChild { child: run_id(2) };
    first.outbox_changes = vec![OutboxChange::Add(outbox_id(1), errand())];
    append_accepted(&*journal, first).await;
    let other = store.open_journal().await;

    let timers = |journal, by, now| due_timers(journal, work_claim_of(by, now));
    assert_eq!(timers(&*journal, 1, 10).await, 1);
    assert_eq!(timers(&*other, 2, 50).await, 0, "it is the first one's");
    assert_eq!(timers(&*journal, 1, 50).await, 1, "who claimed it is given it again");
    assert_eq!(timers(&*other, 2, 100).await, 1, "the first one is lost");

    assert_eq!(due_hooks(&*journal, work_claim_of(1, 10)).await, 1);
    assert_eq!(due_hooks(&*other, work_claim_of(2, 50)).await, 0);
    assert_eq!(due_hooks(&*other, work_claim_of(2, 100)).await, 1);

    assert!(
        other.claim_unclaimed_errands(work_claim_of(2, 50)).await.unwrap().is_empty(),
        "who adds does it"
    );
    assert!(journal.claim_unclaimed_errands(work_claim_of(1, 50)).await.unwrap().is_empty());
    assert_eq!(other.claim_unclaimed_errands(work_claim_of(2, 100)).await.unwrap().len(), 1);
    assert!(other.claim_unclaimed_errands(work_claim_of(2, 100)).await.unwrap().is_empty());

    // Work that is set again, or has caught up, has no claim.
    renew_lease(&*journal, 1, 9_000, 200).await;
    let mut again = numbered_append(run_id(1), 1, [2]);
    again.timer_changes = vec![TimerChange::Set(step_timer("t"), timestamp(20))];
    again.hook_changes = vec![HookChange::Delivered { id: "hook".to_owned(), after: 2 }];
    again.outbox_changes = vec![OutboxChange::Add(outbox_id(2), errand())];
    append_accepted(&*journal, again).await;
    append_accepted(&*journal, numbered_append(run_id(1), 2, [3])).await;
    assert_eq!(timers(&*journal, 1, 300).await, 1);
    assert_eq!(due_hooks(&*journal, work_claim_of(1, 9_000 - 1)).await, 1);
    let nobodys = journal.claim_unclaimed_errands(work_claim_of(1, 300)).await.unwrap();
    assert_eq!(nobodys.len(), 1, "one that no worker added");
}

async fn due_timers(journal: &dyn Journal, claim: WorkClaim) -> usize {
    journal.claim_due_timers(claim).await.unwrap().len()
}

async fn due_hooks(journal: &dyn Journal, claim: WorkClaim) -> usize {
    journal.claim_due_hooks(claim, Vec::new()).await.unwrap().len()
}

/// Proves X3: of many concurrent claims, one gets each piece of work.
pub async fn claims_at_once_share_nothing(journal: Arc<dyn Journal>) {
    const WORKERS: u128 = 8;
    for number in 1..=WORKERS {
        renew_lease(&*journal, number, i64::MAX, 0).await;
    }
    for id in 1..=100 {
        let mut first = numbered_append(run_id(id), 0, [1]);
        first.row = Some(run_row(id));
        first.timer_changes = vec![TimerChange::Set(step_timer("t"), Timestamp(0))];
        append_accepted(&*journal, first).await;
    }
    let asks = (1..=WORKERS).map(|number| {
        let journal = journal.clone();
        tokio::spawn(async move {
            let claim = WorkClaim { limit: 30, ..work_claim_of(number, 1) };
            let runs = journal.claim_abandoned_runs(claim).await.unwrap();
            let timers = journal.claim_due_timers(claim).await.unwrap();
            (runs, timers)
        })
    });
    let (mut runs, mut timers) = (Vec::new(), Vec::new());
    for asked in asks.collect::<Vec<_>>() {
        let (some_runs, some_timers) = asked.await.unwrap();
        runs.extend(some_runs.into_iter().map(|it| it.run));
        timers.extend(some_timers.into_iter().map(|it| it.run));
    }
    for found in [&mut runs, &mut timers] {
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 100);
    }
}

/// Proves X2: after closing nothing can be claimed.
pub async fn after_closing_nothing_is_claimed(journal: Arc<dyn Journal>) {
    journal.close_store().await;
    assert!(journal.claim_abandoned_runs(work_claim_of(1, 0)).await.is_err());
    assert!(
        journal.acquire_or_renew_lease(worker_id(1), WorkerLease::Exclusive, timestamp(0)).await.is_err()
    );
    assert!(journal.release_lease(worker_id(1)).await.is_err());
}
