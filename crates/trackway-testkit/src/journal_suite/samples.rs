//! Ids, rows and appends for the cases.

use serde_json::Value;
use tokio::sync::oneshot;
use trackway_domain::{
    Caller, Event, MessageId, Op, OpKind, RunId, Seq, SessionId, StateName, StepOutcome, Timer,
    Timestamp, WorkflowRef,
};
use trackway_ports::{
    Append, AppendError, Claim, ClaimKey, Journal, OutboxId, Receipt, RunRow, Stored, WorkClaim,
    WorkerId,
};
use uuid::Uuid;

/// More than any case writes.
pub(super) const ALL: usize = 100_000;

pub fn run(number: u128) -> RunId {
    RunId::new(Uuid::from_u128(number))
}

pub(super) fn outbox_id(number: u128) -> OutboxId {
    OutboxId(Uuid::from_u128(number))
}

pub(super) fn worker(number: u128) -> WorkerId {
    WorkerId(Uuid::from_u128(number))
}

/// The claim of a worker that is the only one.
pub(super) fn claim_at(now: i64, limit: usize) -> WorkClaim {
    WorkClaim { worker: worker(1), now: at(now), limit }
}

pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn op(key: &str) -> Op {
    Op { kind: OpKind::Step, key: key.into(), occurrence: 0 }
}

pub(super) fn timer(key: &str) -> Timer {
    Timer::Op(op(key))
}

pub(super) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// A small event with a unique number.
pub(super) fn event(number: u64) -> Event {
    event_of(number.into())
}

pub(super) fn event_of(value: Value) -> Event {
    Event::StepDone { op: op("sample"), outcome: StepOutcome::Ok(value) }
}

pub(super) fn row(number: u128) -> RunRow {
    RunRow {
        id: run(number),
        session: session("session"),
        caller: Caller::new("tenant", "user"),
        workflow: WorkflowRef { name: "workflow".to_owned(), version: "1".to_owned() },
        parent: None,
        state: StateName::Working,
        runnable: true,
        parked: false,
        created_at: at(1_000),
        status_at: at(2_000),
    }
}

pub(super) fn claim(caller: &Caller, message: &str, run: RunId) -> Claim {
    Claim {
        key: ClaimKey { caller: caller.clone(), message: MessageId::new(message).unwrap() },
        run,
        digest: format!("digest of {message}"),
        reply: serde_json::json!({"said": message, "run": run}),
    }
}

/// An append of one event per number.
pub(super) fn appending(
    run: RunId,
    expected: Seq,
    numbers: impl IntoIterator<Item = u64>,
) -> Append {
    let mut append = Append::new(run, expected, at(5_000));
    append.events = numbers.into_iter().map(event).collect();
    append
}

/// An append that only writes this row.
pub(super) fn writing_row(row: RunRow) -> Append {
    let mut append = Append::new(row.id, 0, at(5_000));
    append.row = Some(row);
    append
}

/// Hands in the append and returns a receiver for its outcome.
pub fn hand_in(
    journal: &dyn Journal,
    append: Append,
) -> oneshot::Receiver<Result<Receipt, AppendError>> {
    let (sender, receiver) = oneshot::channel();
    journal.append(
        append,
        // The case may have stopped waiting.
        Box::new(move |outcome| drop(sender.send(outcome))),
    );
    receiver
}

pub(super) async fn append(journal: &dyn Journal, append: Append) -> Result<Receipt, AppendError> {
    hand_in(journal, append).await.expect("every append is answered")
}

pub(super) async fn write(journal: &dyn Journal, what: Append) -> Receipt {
    append(journal, what).await.expect("the append is written")
}

pub(super) async fn log(journal: &dyn Journal, run: RunId) -> Vec<Stored> {
    crate::whole_log(journal, run).await.unwrap()
}

/// The numbers of a run's sample events.
pub(super) async fn numbers(journal: &dyn Journal, run: RunId) -> Vec<u64> {
    log(journal, run).await.iter().map(number).collect()
}

pub(super) fn number(stored: &Stored) -> u64 {
    match &stored.event {
        Event::StepDone { outcome: StepOutcome::Ok(value), .. } => value.as_u64().unwrap(),
        other => panic!("not a sample event: {other:?}"),
    }
}

pub(super) fn is_conflict(outcome: &Result<Receipt, AppendError>) -> bool {
    matches!(outcome, Err(AppendError::Conflict { .. }))
}
