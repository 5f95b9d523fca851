//! The one way into the log: nothing else makes an append or hands one to the store (tidy checks it).

use tokio::sync::oneshot;
use trackway_domain::{Event, RunId, RunSubmission, Seq, Timestamp};
use trackway_engine::{CommandRefusal, Run, artifact_index_entries, is_visible};
use trackway_ports::{
    Append, AppendCallback, AppendError, AppendReceipt, Journal, OutboxChange, OutboxId, PinnedDefinition,
    RunRow, TimerChange,
};

use crate::live_run::RunRowStatus;

/// The append of a decision, with its events and the versions of artifacts that follow from them. The caller sets
/// what else goes with them. A run without a submission has no events.
pub(crate) fn build_run_append(
    run: RunId,
    submission: Option<&RunSubmission>,
    expected_seq: Seq,
    at: Timestamp,
    events: Vec<Event>,
) -> Append {
    let tells = events.iter().any(is_visible);
    let artifacts = submission.map(|submission| {
        artifact_index_entries(&submission.caller, &submission.session, expected_seq, &events)
    });
    let artifacts = artifacts.unwrap_or_default();
    Append { events, artifacts, notifies_hooks: tells, ..Append::new(run, expected_seq, at) }
}

/// The append that settles an errand and changes no run's log.
pub(crate) fn build_errand_removal(id: OutboxId, at: Timestamp) -> Append {
    Append { outbox_changes: vec![OutboxChange::Remove(id)], ..Append::new(RunId::new(id.0), 0, at) }
}

/// A whole log that was recorded under another id or in another store.
#[derive(Debug, Clone)]
pub struct CopiedRunLog {
    pub row: RunRow,
    pub events: Vec<Event>,
    /// When each of them was recorded.
    pub stamps: Vec<Timestamp>,
    pub timers: Vec<TimerChange>,
    pub pins: Vec<PinnedDefinition>,
}

impl CopiedRunLog {
    pub(crate) fn into_import_append(self, at: Timestamp) -> Append {
        let Self { row, events, stamps, timers, pins } = self;
        let fresh = Append::new(row.id, 0, at);
        Append {
            artifacts: artifact_index_entries(&row.caller, &row.session, 0, &events),
            events,
            row: Some(row),
            timer_changes: timers,
            notifies_hooks: false,
            pins,
            event_times: stamps,
            ..fresh
        }
    }
}

/// Writes logs that were recorded elsewhere, all of them or none.
pub async fn import_copied_logs(journal: &dyn Journal, logs: Vec<CopiedRunLog>) -> Result<(), AppendError> {
    let append = |log: CopiedRunLog| {
        let at = log.stamps.last().copied().unwrap_or_default();
        log.into_import_append(at)
    };
    journal.append_all(logs.into_iter().map(append).collect()).await
}

/// Hands an append to the store.
pub(crate) fn enqueue_append(journal: &dyn Journal, append: Append, done: AppendCallback) {
    journal.append(append, done);
}

/// Hands it over and waits until it is durable.
pub(crate) async fn append_and_wait(
    journal: &dyn Journal,
    append: Append,
) -> Result<AppendReceipt, AppendError> {
    let (answer, answered) = oneshot::channel();
    // The send fails if the caller has stopped waiting.
    let done = move |result| drop(answer.send(result));
    enqueue_append(journal, append, Box::new(done));
    let ended = || AppendError::Broken { reason: "the store has ended".into() };
    answered.await.map_err(|_| ended())?
}

/// Folds events into a run. If there is no run yet, the first event begins it.
pub(crate) fn fold_events_into_run(
    run: Option<Run>,
    events: &[Event],
    at: Timestamp,
) -> Result<Option<Run>, CommandRefusal> {
    let mut folded = run;
    for event in events {
        match (&mut folded, event) {
            (Some(run), event) => run.apply_event(event)?,
            (none @ None, Event::Submitted(submission)) => {
                *none = Some(Run::from_submission(submission.clone(), at));
            }
            (None, _) => return Err(CommandRefusal::NotSubmitted),
        }
    }
    Ok(folded)
}

/// The run's row.
pub(crate) fn build_run_row(run: &Run, marks: RunRowStatus) -> RunRow {
    let RunRowStatus { state, runnable, parked, status_at } = marks;
    let submission = &run.submission;
    RunRow {
        id: submission.run,
        session: submission.session.clone(),
        caller: submission.caller.clone(),
        workflow: submission.workflow.clone(),
        parent: submission.parent,
        state,
        runnable,
        parked,
        created_at: run.created_at,
        status_at,
    }
}
