//! Ids, rows and appends for the cases.

use serde_json::Value;
use tokio::sync::oneshot;
use trackway_domain::{
    Caller, Event, MessageId, Op, OpKind, RunId, Seq, SessionId, StateName, StepOutcome, TimerKey, Timestamp,
    WorkflowRef,
};
use trackway_ports::{
    Append, AppendError, AppendReceipt, Journal, MessageClaim, MessageClaimKey, OutboxId, RunRow,
    StoredEvent, WorkClaim, WorkerId,
};
use uuid::Uuid;

/// More than any case writes.
pub(super) const ALL: usize = 100_000;

pub fn run_id(number: u128) -> RunId {
    RunId::new(Uuid::from_u128(number))
}

pub(super) fn outbox_id(number: u128) -> OutboxId {
    OutboxId(Uuid::from_u128(number))
}

pub(super) fn worker_id(number: u128) -> WorkerId {
    WorkerId(Uuid::from_u128(number))
}

/// The claim of a worker that is the only one.
pub(super) fn work_claim_at(now: i64, limit: usize) -> WorkClaim {
    WorkClaim { worker: worker_id(1), now: timestamp(now), limit }
}

pub(super) fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn step_op(key: &str) -> Op {
    Op { kind: OpKind::Step, key: key.into(), occurrence: 0 }
}

pub(super) fn step_timer(key: &str) -> TimerKey {
    TimerKey::Op(step_op(key))
}

pub(super) fn session_id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// A small event with a unique number.
pub(super) fn numbered_event(number: u64) -> Event {
    event_with_value(number.into())
}

pub(super) fn event_with_value(value: Value) -> Event {
    Event::StepDone { op: step_op("sample"), outcome: StepOutcome::Ok(value) }
}

pub(super) fn run_row(number: u128) -> RunRow {
    RunRow {
        id: run_id(number),
        session: session_id("session"),
        caller: Caller::new("tenant", "user"),
        workflow: WorkflowRef { name: "workflow".to_owned(), version: "1".to_owned() },
        parent: None,
        state: StateName::Working,
        runnable: true,
        parked: false,
        created_at: timestamp(1_000),
        status_at: timestamp(2_000),
    }
}

pub(super) fn message_claim(caller: &Caller, message: &str, run: RunId) -> MessageClaim {
    MessageClaim {
        key: MessageClaimKey { caller: caller.clone(), message: MessageId::new(message).unwrap() },
        run,
        digest: format!("digest of {message}"),
        reply: serde_json::json!({"said": message, "run": run}),
    }
}

/// An append of one event per number.
pub(super) fn numbered_append(run: RunId, expected: Seq, numbers: impl IntoIterator<Item = u64>) -> Append {
    let mut append = Append::new(run, expected, timestamp(5_000));
    append.events = numbers.into_iter().map(numbered_event).collect();
    append
}

/// An append that only writes this row.
pub(super) fn row_append(row: RunRow) -> Append {
    let mut append = Append::new(row.id, 0, timestamp(5_000));
    append.row = Some(row);
    append
}

/// Hands in the append and returns a receiver for its outcome.
pub fn enqueue_append(
    journal: &dyn Journal,
    append: Append,
) -> oneshot::Receiver<Result<AppendReceipt, AppendError>> {
    let (sender, receiver) = oneshot::channel();
    journal.append(
        append,
        // The case may have stopped waiting.
        Box::new(move |outcome| drop(sender.send(outcome))),
    );
    receiver
}

pub(super) async fn append_and_wait(
    journal: &dyn Journal,
    append: Append,
) -> Result<AppendReceipt, AppendError> {
    enqueue_append(journal, append).await.expect("every append is answered")
}

pub(super) async fn append_accepted(journal: &dyn Journal, what: Append) -> AppendReceipt {
    append_and_wait(journal, what).await.expect("the append is written")
}

pub(super) async fn load_log(journal: &dyn Journal, run: RunId) -> Vec<StoredEvent> {
    crate::load_full_log(journal, run).await.unwrap()
}

/// The numbers of a run's sample events.
pub(super) async fn logged_numbers(journal: &dyn Journal, run: RunId) -> Vec<u64> {
    load_log(journal, run).await.iter().map(event_number).collect()
}

pub(super) fn event_number(stored: &StoredEvent) -> u64 {
    match &stored.event {
        Event::StepDone { outcome: StepOutcome::Ok(value), .. } => value.as_u64().unwrap(),
        other => panic!("not a sample event: {other:?}"),
    }
}

pub(super) fn is_conflict(outcome: &Result<AppendReceipt, AppendError>) -> bool {
    matches!(outcome, Err(AppendError::Conflict { .. }))
}
