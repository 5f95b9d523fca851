//! Refusals are stored together and soon; one that cannot be stored disturbs nobody.

use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering},
};

use tokio::sync::Semaphore;
use trackway_ports::{AuditCursor, AuditPage, ReadFuture, WriteFuture};
use trackway_testkit::{ManualClock, MemoryAuditLog};

use super::*;

/// A log that stores when a test permits it, and fails as often as a test wants.
#[derive(Debug)]
struct SlowLog {
    log: MemoryAuditLog,
    permits: Semaphore,
    failures: Mutex<Vec<AppendError>>,
    attempts: AtomicU32,
}

impl SlowLog {
    fn new(permits: usize, failures: Vec<AppendError>) -> Arc<Self> {
        let (log, permits) = (MemoryAuditLog::default(), Semaphore::new(permits));
        Arc::new(Self { log, permits, failures: Mutex::new(failures), attempts: AtomicU32::new(0) })
    }

    async fn objects(&self) -> Vec<String> {
        let page = self.list_audit_events("acme".to_owned(), None, 10_000).await.unwrap();
        page.events.into_iter().rev().map(|event| event.object).collect()
    }
}

impl AuditLog for SlowLog {
    fn record_audit_events(&self, events: Vec<AuditEvent>) -> WriteFuture<'_> {
        Box::pin(async move {
            self.permits.acquire().await.unwrap().forget();
            self.attempts.fetch_add(1, Ordering::SeqCst);
            let failure = self.failures.lock().unwrap().pop();
            match failure {
                Some(failure) => Err(failure),
                None => self.log.record_audit_events(events).await,
            }
        })
    }

    fn list_audit_events(
        &self,
        tenant: String,
        before: Option<AuditCursor>,
        limit: usize,
    ) -> ReadFuture<'_, AuditPage> {
        self.log.list_audit_events(tenant, before, limit)
    }
}

fn record(queue: &AuditQueue, object: &str) {
    let refused = RefusedAction { action: "artifact:read", object, reason: "unknown-artifact" };
    queue.record_refusal(&Caller::new("acme", "ann"), refused);
}

fn busy() -> AppendError {
    AppendError::Unavailable { reason: "locked".to_owned() }
}

/// Proves X6: what was refused before a look at the log is in the log.
#[tokio::test]
async fn refusals_are_stored_in_their_order() {
    let log = SlowLog::new(1_000, Vec::new());
    let queue = AuditQueue::open(log.clone(), Arc::new(ManualClock::new()));
    let names: Vec<String> = (0..100).map(|number| format!("f{number}")).collect();
    names.iter().for_each(|name| record(&queue, name));
    queue.wait_until_recorded().await;
    assert_eq!(log.objects().await, names);
    assert_eq!(log.attempts.load(Ordering::SeqCst), 1, "what waits is one transaction");
}

/// Proves X5: with a store that hangs, a refusal returns at once and the queue has an end.
#[tokio::test]
async fn refusals_beyond_the_queue_are_lost_and_not_waited_for() {
    let log = SlowLog::new(0, Vec::new());
    let queue = AuditQueue::open(log.clone(), Arc::new(ManualClock::new()));
    for number in 0..WAITING_MAX * 3 {
        record(&queue, &format!("f{number}"));
    }
    log.permits.add_permits(1_000);
    queue.wait_until_recorded().await;
    let stored = log.objects().await;
    assert_eq!(stored.len(), WAITING_MAX);
    record(&queue, "later");
    queue.wait_until_recorded().await;
    assert_eq!(log.objects().await.last().map(String::as_str), Some("later"));
}

/// Proves X5: a store that is busy for a moment loses nothing, and one that has failed stops nobody.
#[tokio::test]
async fn a_busy_store_is_asked_again() {
    let clock = Arc::new(ManualClock::new());
    let log = SlowLog::new(1_000, vec![busy(), busy()]);
    let queue = AuditQueue::open(log.clone(), clock.clone());
    record(&queue, "one");
    for _ in 0..2 {
        let again = clock.now() + PAUSE;
        clock.wait_for_sleeper(again).await;
        clock.advance_to(again);
    }
    queue.wait_until_recorded().await;
    assert_eq!(log.objects().await, ["one"]);

    *log.failures.lock().unwrap() = vec![AppendError::Closed];
    record(&queue, "lost");
    queue.wait_until_recorded().await;
    record(&queue, "two");
    queue.wait_until_recorded().await;
    assert_eq!(log.objects().await, ["one", "two"]);
}

/// Proves X5: texts of callers have a bound, and are cut between characters.
#[tokio::test]
async fn long_texts_are_cut() {
    let log = SlowLog::new(1_000, Vec::new());
    let queue = AuditQueue::open(log.clone(), Arc::new(ManualClock::new()));
    record(&queue, &"\u{e9}".repeat(5_000_000));
    queue.wait_until_recorded().await;
    let [object] = &log.objects().await[..] else { panic!("one event") };
    assert!(object.len() <= 512 && object.ends_with("\u{e9}…"), "{object}");
}
