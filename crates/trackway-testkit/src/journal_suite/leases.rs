//! Leases: who drives a run, and who handles due work.

use std::sync::Arc;

use trackway_domain::{RunId, Timestamp};
use trackway_ports::{
    Append, AppendError, ClaimedRun, Epoch, Fence, HookChange, HookTarget, Journal, Lease,
    OutboxChange, OutboxItem, Receipt, RunLease, RunRow, TimerChange, WorkClaim,
};

use super::{StoreUnderTest, fresh, samples::*};

fn claim_of(number: u128, now: i64) -> WorkClaim {
    WorkClaim { worker: worker(number), now: at(now), limit: ALL }
}

async fn hold(journal: &dyn Journal, number: u128, until: i64, now: i64) {
    journal.hold(worker(number), Lease::Until(at(until)), at(now)).await.unwrap();
}

/// The first append of a run that this worker drives.
fn begun(id: u128, by: u128) -> Append {
    let mut first = appending(run(id), 0, [1]);
    first.row = Some(row(id));
    first.worker = Some(worker(by));
    first.fence = Fence::Take(Epoch(1));
    first
}

fn under(epoch: u64, append: Append) -> Append {
    Append { fence: Fence::Held(Epoch(epoch)), ..append }
}

async fn lease(journal: &dyn Journal, id: u128) -> (u64, Option<u128>) {
    let RunLease { epoch, driver } = journal.run_lease(run(id)).await.unwrap().unwrap();
    (epoch.0, driver.map(|driver| driver.0.as_u128()))
}

fn is_fenced(outcome: &Result<Receipt, AppendError>) -> bool {
    matches!(outcome, Err(AppendError::Fenced { .. }))
}

fn number_of(id: RunId) -> u128 {
    (1..=100).find(|number| run(*number) == id).expect("one of the suite's runs")
}

fn runs(claimed: Vec<ClaimedRun>) -> Vec<(u128, u64)> {
    claimed.into_iter().map(|it| (number_of(it.run), it.epoch.0)).collect()
}

/// Proves X3: a decision under a stale lease is not written.
pub async fn a_stale_lease_writes_nothing<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    hold(&*journal, 1, 100, 0).await;
    hold(&*journal, 2, 1_000, 0).await;
    write(&*journal, begun(1, 1)).await;
    assert_eq!(lease(&*journal, 1).await, (1, Some(1)));
    write(&*journal, under(1, appending(run(1), 1, [2]))).await;

    // The first lease has ended; its worker does not know that yet.
    let other = store.open().await;
    assert_eq!(runs(other.claim_runs(claim_of(2, 200)).await.unwrap()), [(1, 2)]);
    assert_eq!(lease(&*journal, 1).await, (2, Some(2)));
    for epoch in [0, 1, 3, u64::MAX] {
        let mut stale = under(epoch, appending(run(1), 2, [9]));
        stale.timers = vec![TimerChange::Set(timer("t"), at(1))];
        let outcome = append(&*journal, stale).await;
        assert!(is_fenced(&outcome), "epoch {epoch}: {outcome:?}");
    }
    let taken = Append { fence: Fence::Take(Epoch(2)), ..appending(run(1), 2, [9]) };
    assert!(is_fenced(&append(&*journal, taken).await));
    assert_eq!(numbers(&*journal, run(1)).await, [1, 2]);
    assert_eq!(journal.next_timer(at(0)).await.unwrap(), None);

    // The new driver continues, and decisions without the driver are still possible.
    write(&*other, under(2, appending(run(1), 2, [3]))).await;
    write(&*journal, appending(run(1), 3, [4])).await;
    assert_eq!(numbers(&*journal, run(1)).await, [1, 2, 3, 4]);
    assert_eq!(lease(&*journal, 1).await, (2, Some(2)));
}

/// Proves X3: a run that waits has no driver, and the worker that brings the answer becomes its
/// driver.
pub async fn a_run_that_waits_can_be_taken(journal: Arc<dyn Journal>) {
    hold(&*journal, 1, 1_000, 0).await;
    hold(&*journal, 2, 1_000, 0).await;
    write(&*journal, begun(1, 1)).await;
    let answer = |epoch| {
        let mut answer = appending(run(1), 2, [3]);
        answer.row = Some(row(1));
        answer.worker = Some(worker(2));
        answer.fence = Fence::Take(Epoch(epoch));
        answer
    };
    let mut waits = under(1, appending(run(1), 1, [2]));
    waits.row = Some(RunRow { runnable: false, ..row(1) });
    write(&*journal, waits).await;
    assert_eq!(lease(&*journal, 1).await, (1, None));
    for epoch in [0, 1, 3] {
        assert!(is_fenced(&append(&*journal, answer(epoch)).await), "epoch {epoch}");
    }
    write(&*journal, answer(2)).await;
    assert_eq!(lease(&*journal, 1).await, (2, Some(2)));
    assert!(is_fenced(&append(&*journal, under(1, appending(run(1), 3, [9]))).await));

    // A parked run keeps its driver, and one that has ended has none.
    let mut parks = under(2, appending(run(1), 3, [4]));
    parks.row = Some(RunRow { runnable: false, parked: true, ..row(1) });
    write(&*journal, parks).await;
    assert_eq!(lease(&*journal, 1).await, (2, Some(2)));
    let mut ends = under(2, appending(run(1), 4, [5]));
    ends.row = Some(RunRow { runnable: false, ..row(1) });
    write(&*journal, ends).await;
    assert_eq!(lease(&*journal, 1).await, (2, None));
    assert_eq!(journal.run_lease(run(9)).await.unwrap(), None);
}

/// Proves X2, X3: the work of a dead worker is claimed, once.
pub async fn runs_of_a_lost_worker_are_claimed_once(journal: Arc<dyn Journal>) {
    hold(&*journal, 1, 100, 0).await;
    hold(&*journal, 2, 1_000, 0).await;
    hold(&*journal, 3, 1_000, 0).await;
    for id in 1..=5 {
        write(&*journal, begun(id, 1)).await;
    }
    write(&*journal, begun(6, 2)).await;
    let mut waits = under(1, appending(run(5), 1, [2]));
    waits.row = Some(RunRow { runnable: false, ..row(5) });
    write(&*journal, waits).await;
    let mut nobodys = appending(run(7), 0, [1]);
    nobodys.row = Some(RunRow { runnable: false, parked: true, ..row(7) });
    write(&*journal, nobodys).await;

    // While the first is alive, only runs without a driver can be claimed.
    assert_eq!(runs(journal.claim_runs(claim_of(2, 99)).await.unwrap()), [(7, 1)]);
    let two = WorkClaim { limit: 2, ..claim_of(2, 100) };
    assert_eq!(runs(journal.claim_runs(two).await.unwrap()), [(1, 2), (2, 2)]);
    assert_eq!(runs(journal.claim_runs(claim_of(3, 100)).await.unwrap()), [(3, 2), (4, 2)]);
    for number in [2, 3] {
        assert!(journal.claim_runs(claim_of(number, 100)).await.unwrap().is_empty());
    }
    // A released lease ends at once, and a renewed one stays alive.
    journal.release(worker(2)).await.unwrap();
    hold(&*journal, 3, 2_000, 500).await;
    let claimed = runs(journal.claim_runs(claim_of(1, 1_500)).await.unwrap());
    assert_eq!(claimed, [(1, 3), (2, 3), (6, 2), (7, 2)]);
}

/// Proves X3: a process with an exclusive lease takes over at once.
pub async fn a_sole_lease_ends_all_others<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    journal.hold(worker(1), Lease::Sole, at(0)).await.unwrap();
    write(&*journal, begun(1, 1)).await;
    assert!(journal.claim_runs(claim_of(2, i64::MAX - 1)).await.unwrap().is_empty());
    let next = store.open().await;
    next.hold(worker(2), Lease::Sole, at(1)).await.unwrap();
    assert_eq!(runs(next.claim_runs(claim_of(2, 1)).await.unwrap()), [(1, 2)]);
    assert!(is_fenced(&append(&*journal, under(1, appending(run(1), 1, [9]))).await));
    // It gets its claimed work again until the work is done.
    let mut sleeps = under(2, appending(run(1), 1, [2]));
    sleeps.timers = vec![TimerChange::Set(timer("t"), at(5))];
    write(&*next, sleeps).await;
    for _ in 0..2 {
        assert_eq!(next.claim_timers(claim_of(2, 5)).await.unwrap().len(), 1);
    }
}

/// Proves X3: one worker handles due work, and another one if that worker is lost.
pub async fn what_is_due_is_claimed_by_one_worker<S: StoreUnderTest>() {
    let (store, journal) = fresh::<S>().await;
    hold(&*journal, 1, 100, 0).await;
    hold(&*journal, 2, 1_000, 0).await;
    let set_hook = || HookChange::Set {
        id: "hook".to_owned(),
        target: HookTarget(serde_json::json!({})),
        after: 0,
    };
    let mut first = begun(1, 1);
    first.timers = vec![TimerChange::Set(timer("t"), at(10))];
    first.hooks = vec![set_hook()];
    first.at = at(10);
    let errand = || OutboxItem::CancelChild { child: run(2) };
    first.outbox = vec![OutboxChange::Add(outbox_id(1), errand())];
    write(&*journal, first).await;
    let other = store.open().await;

    let timers = |journal, by, now| due_timers(journal, claim_of(by, now));
    assert_eq!(timers(&*journal, 1, 10).await, 1);
    assert_eq!(timers(&*other, 2, 50).await, 0, "it is the first one's");
    assert_eq!(timers(&*journal, 1, 50).await, 1, "who claimed it is given it again");
    assert_eq!(timers(&*other, 2, 100).await, 1, "the first one is lost");

    assert_eq!(due_hooks(&*journal, claim_of(1, 10)).await, 1);
    assert_eq!(due_hooks(&*other, claim_of(2, 50)).await, 0);
    assert_eq!(due_hooks(&*other, claim_of(2, 100)).await, 1);

    assert!(other.claim_errands(claim_of(2, 50)).await.unwrap().is_empty(), "who adds does it");
    assert!(journal.claim_errands(claim_of(1, 50)).await.unwrap().is_empty());
    assert_eq!(other.claim_errands(claim_of(2, 100)).await.unwrap().len(), 1);
    assert!(other.claim_errands(claim_of(2, 100)).await.unwrap().is_empty());

    // Work that is set again, or has caught up, has no claim.
    hold(&*journal, 1, 9_000, 200).await;
    let mut again = appending(run(1), 1, [2]);
    again.timers = vec![TimerChange::Set(timer("t"), at(20))];
    again.hooks = vec![HookChange::Told { id: "hook".to_owned(), after: 2 }];
    again.outbox = vec![OutboxChange::Add(outbox_id(2), errand())];
    write(&*journal, again).await;
    write(&*journal, appending(run(1), 2, [3])).await;
    assert_eq!(timers(&*journal, 1, 300).await, 1);
    assert_eq!(due_hooks(&*journal, claim_of(1, 9_000 - 1)).await, 1);
    let nobodys = journal.claim_errands(claim_of(1, 300)).await.unwrap();
    assert_eq!(nobodys.len(), 1, "one that no worker added");
}

async fn due_timers(journal: &dyn Journal, claim: WorkClaim) -> usize {
    journal.claim_timers(claim).await.unwrap().len()
}

async fn due_hooks(journal: &dyn Journal, claim: WorkClaim) -> usize {
    journal.claim_hooks(claim, Vec::new()).await.unwrap().len()
}

/// Proves X3: of many concurrent claims, one gets each piece of work.
pub async fn claims_at_once_share_nothing(journal: Arc<dyn Journal>) {
    const WORKERS: u128 = 8;
    for number in 1..=WORKERS {
        hold(&*journal, number, i64::MAX, 0).await;
    }
    for id in 1..=100 {
        let mut first = appending(run(id), 0, [1]);
        first.row = Some(row(id));
        first.timers = vec![TimerChange::Set(timer("t"), Timestamp(0))];
        write(&*journal, first).await;
    }
    let asks = (1..=WORKERS).map(|number| {
        let journal = journal.clone();
        tokio::spawn(async move {
            let claim = WorkClaim { limit: 30, ..claim_of(number, 1) };
            let runs = journal.claim_runs(claim).await.unwrap();
            let timers = journal.claim_timers(claim).await.unwrap();
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
    journal.close().await;
    assert!(journal.claim_runs(claim_of(1, 0)).await.is_err());
    assert!(journal.hold(worker(1), Lease::Sole, at(0)).await.is_err());
    assert!(journal.release(worker(1)).await.is_err());
}
