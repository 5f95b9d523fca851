//! Decides and writes: one command, one append, one response after its commit.

use tokio::sync::oneshot;
use trackway_domain::{Command, GuidedCommand, RunId, Seq, Submission};
use trackway_engine::{CommandReply, Decision, DecisionEnv, GuidedReply, Refusal, Run, decide};
use trackway_ports::{Append, AppendError, AppendReceipt, MessageClaim, PinnedDefinition, RunRow};

use super::{GuidedRunError, GuidedRuns, loading::error_from_append};
use crate::{
    append::{self, build_append, build_run_row, fold_events},
    commit::ExternalAppend,
    live_run::RunRowStatus,
};

/// What is appended together with the events of a command.
#[derive(Debug, Default)]
pub(super) struct AppendExtras {
    pub(super) pins: Vec<PinnedDefinition>,
    pub(super) claim: Option<MessageClaim>,
}

/// The result of a command.
#[derive(Debug)]
pub(super) enum ExecuteOutcome {
    /// It is durable, if there was anything to record.
    Done(Option<Box<GuidedReply>>),
    /// The claim was made before, by the same command.
    Repeated,
    /// Another caller was faster: decide again on the newer log.
    LostRace,
}

/// What must be written, if anything, and the reply once it is durable.
struct DecidedAppend {
    append: Option<Box<Append>>,
    reply: Option<Box<GuidedReply>>,
}

impl GuidedRuns {
    /// Decides a command on the current run and commits it. Watchers of the run in this process see it, even
    /// if the caller has gone in the meantime.
    pub(super) async fn execute(
        &self,
        id: RunId,
        run: Option<Box<Run>>,
        command: GuidedCommand,
        with: AppendExtras,
    ) -> Result<ExecuteOutcome, GuidedRunError> {
        let decided = self.decide(id, run, command);
        let DecidedAppend { append, reply } = decided.map_err(|error| error_from_refusal(id, error))?;
        let Some(mut append) = append else { return Ok(ExecuteOutcome::Done(reply)) };
        (append.pins, append.message_claim) = (with.pins, with.claim);
        match self.append_and_wait(*append).await {
            Ok(()) => Ok(ExecuteOutcome::Done(reply)),
            Err(AppendError::Claimed(_)) => Ok(ExecuteOutcome::Repeated),
            Err(AppendError::Conflict { .. }) => Ok(ExecuteOutcome::LostRace),
            Err(error) => Err(error_from_append(&error)),
        }
    }

    fn decide(
        &self,
        id: RunId,
        run: Option<Box<Run>>,
        command: GuidedCommand,
    ) -> Result<DecidedAppend, Refusal> {
        let now = self.options.clock.now();
        let ids = || self.options.ids.new_uuid();
        let env = DecisionEnv { now, ids: &ids, schemas: &*self.schemas };
        let command = Command::Guided(Box::new(command));
        let Decision { events, reply, .. } = decide(run.as_deref(), command, env)?;
        let reply = match reply {
            CommandReply::Guided(reply) => Some(reply),
            _ => None,
        };
        if events.is_empty() {
            return Ok(DecidedAppend { append: None, reply });
        }
        let (expected, before) = run.as_ref().map_or((0, None), |run| (run.seq, Some(run.state.name())));
        let folded = fold_events(run.map(|run| *run), &events, now)?;
        let changed = folded.filter(|run| before != Some(run.state.name()));
        let mut append = Box::new(build_append(id, expected, now, events));
        // The engine never drives a guided run.
        append.row = changed.map(|run| {
            let state = run.state.name();
            build_run_row(&run, RunRowStatus { state, runnable: false, parked: false, status_at: now })
        });
        Ok(DecidedAppend { append: Some(append), reply })
    }

    /// Hands in an append and waits until it is durable.
    async fn append_and_wait(&self, append: Append) -> Result<(), AppendError> {
        // Never closed, so acquiring fails only if that changes.
        let room = self.appends.clone().acquire_owned().await;
        self.options.faults.reach_point("guide:ordered");
        let (run, expected, at) = (append.run, append.expected, append.at);
        let last = expected + append.events.len() as Seq;
        let runtime = self.runtime.clone();
        // Only a runtime that has the run in memory needs a copy.
        let is_live = runtime.as_ref().is_some_and(|runtime| runtime.is_in_memory(run));
        let events = is_live.then(|| append.events.clone());
        let (answer, answered) = oneshot::channel();
        let done = move |result: Result<AppendReceipt, AppendError>| {
            drop(room);
            if let (Ok(receipt), Some(runtime)) = (&result, runtime) {
                runtime.on_external_append(ExternalAppend {
                    run,
                    expected,
                    last,
                    events,
                    at,
                    receipt: receipt.clone(),
                });
            }
            // The send fails if the caller has stopped waiting.
            let _ = answer.send(result);
        };
        append::enqueue(&*self.options.journal, append, Box::new(done));
        let ended = || AppendError::Broken { reason: "the store has ended".into() };
        answered.await.map_err(|_| ended())??;
        self.options.faults.reach_point("guide:committed");
        Ok(())
    }
}

/// The run as its row describes it, with the number of its last event.
pub(super) fn run_from_row(row: &RunRow, seq: Seq, imported: bool) -> Box<Run> {
    let RunRow { id, session, workflow, caller, .. } = row.clone();
    let submission = Submission::new(id, session, workflow, caller, serde_json::Value::Null);
    let submission = Submission { guided: true, ..submission };
    Box::new(Run::from_index(Box::new(submission), row.created_at, row.state, seq, imported))
}

pub(super) fn error_from_refusal(run: RunId, refusal: Refusal) -> GuidedRunError {
    match refusal {
        Refusal::Ended { state } => GuidedRunError::Ended { run, state },
        Refusal::NotAdopted => GuidedRunError::NotAdopted { run },
        Refusal::TooManyAttempts(block) => GuidedRunError::TooManyAttempts { run, block: *block },
        Refusal::UnknownQuestion(_)
        | Refusal::ProgramNotIdle
        | Refusal::NotSubmitted
        | Refusal::AlreadySubmitted
        | Refusal::Illegal(_) => GuidedRunError::Internal { reason: refusal.to_string() },
    }
}
