//! Decides and writes: one command, one append, one response after its commit.

use tokio::sync::oneshot;
use trackway_domain::{GuidedRunCommand, RunCommand, RunId, RunSubmission, Seq};
use trackway_engine::{CommandRefusal, CommandReply, Decision, DecisionEnv, GuidedCommandReply, Run, decide};
use trackway_ports::{Append, AppendError, AppendReceipt, MessageClaim, PinnedDefinition, RunRow};

use super::{GuidedRunError, GuidedRuns, run_and_definition_loading::guided_error_from_append};
use crate::{
    append::{self, build_run_append, build_run_row, fold_events_into_run},
    commit_handling::ExternalAppend,
    live_run::RunRowStatus,
};

/// What is appended together with the events of a command.
#[derive(Debug, Default)]
pub(super) struct AppendPinsAndClaim {
    pub(super) pins: Vec<PinnedDefinition>,
    pub(super) claim: Option<MessageClaim>,
}

/// The result of a command.
#[derive(Debug)]
pub(super) enum GuidedCommandOutcome {
    /// It is durable, if there was anything to record.
    Done(Option<Box<GuidedCommandReply>>),
    /// The claim was made before, by the same command.
    Repeated,
    /// Another caller was faster: decide again on the newer log.
    LostRace,
}

/// What must be written, if anything, and the reply once it is durable.
struct DecidedGuidedAppend {
    append: Option<Box<Append>>,
    reply: Option<Box<GuidedCommandReply>>,
}

impl GuidedRuns {
    /// Decides a command on the current run and commits it. Watchers of the run in this process see it, even
    /// if the caller has gone in the meantime.
    pub(super) async fn execute_guided_command(
        &self,
        id: RunId,
        run: Option<Box<Run>>,
        command: GuidedRunCommand,
        extras: AppendPinsAndClaim,
    ) -> Result<GuidedCommandOutcome, GuidedRunError> {
        let decided = self.decide_guided_command(id, run, command);
        let DecidedGuidedAppend { append, reply } =
            decided.map_err(|error| guided_error_from_refusal(id, error))?;
        let Some(mut append) = append else { return Ok(GuidedCommandOutcome::Done(reply)) };
        (append.pins, append.message_claim) = (extras.pins, extras.claim);
        match self.append_guided_and_wait(*append).await {
            Ok(()) => Ok(GuidedCommandOutcome::Done(reply)),
            Err(AppendError::Claimed(_)) => Ok(GuidedCommandOutcome::Repeated),
            Err(AppendError::Conflict { .. }) => Ok(GuidedCommandOutcome::LostRace),
            Err(error) => Err(guided_error_from_append(&error)),
        }
    }

    fn decide_guided_command(
        &self,
        id: RunId,
        run: Option<Box<Run>>,
        command: GuidedRunCommand,
    ) -> Result<DecidedGuidedAppend, CommandRefusal> {
        let now = self.options.clock.now();
        let ids = || self.options.ids.new_uuid();
        let env = DecisionEnv { now, ids: &ids, schemas: &*self.schemas };
        let command = RunCommand::Guided(Box::new(command));
        let Decision { events, reply, .. } = decide(run.as_deref(), command, env)?;
        let reply = match reply {
            CommandReply::Guided(reply) => Some(reply),
            _ => None,
        };
        if events.is_empty() {
            return Ok(DecidedGuidedAppend { append: None, reply });
        }
        let (expected, before) = run.as_ref().map_or((0, None), |run| (run.seq, Some(run.state.name())));
        let folded = fold_events_into_run(run.map(|run| *run), &events, now)?;
        let submission = folded.as_ref().map(|run| &*run.submission);
        let mut append = Box::new(build_run_append(id, submission, expected, now, events));
        let changed = folded.filter(|run| before != Some(run.state.name()));
        // The engine never drives a guided run.
        append.row = changed.map(|run| {
            let state = run.state.name();
            build_run_row(&run, RunRowStatus { state, runnable: false, parked: false, status_at: now })
        });
        Ok(DecidedGuidedAppend { append: Some(append), reply })
    }

    /// Hands in an append and waits until it is durable.
    async fn append_guided_and_wait(&self, append: Append) -> Result<(), AppendError> {
        // Never closed, so acquiring fails only if that changes.
        let room = self.appends.clone().acquire_owned().await;
        self.options.faults.reach_fault_point("guide:ordered");
        let (run, expected, at) = (append.run, append.expected, append.at);
        let last = expected + append.events.len() as Seq;
        let runtime = self.runtime.clone();
        // Only a runtime that has the run in memory needs a copy.
        let is_live = runtime.as_ref().is_some_and(|runtime| runtime.is_run_in_memory(run));
        let events = is_live.then(|| append.events.clone());
        let (answer, answered) = oneshot::channel();
        let done = move |result: Result<AppendReceipt, AppendError>| {
            drop(room);
            let external = result.as_ref().ok().cloned().zip(runtime).map(|(receipt, runtime)| {
                (runtime, ExternalAppend { run, expected, last, events, at, receipt })
            });
            // The send fails if the caller has stopped waiting.
            let answer = move || drop(answer.send(result));
            match external {
                // After the fold: the caller's next append is folded after this one.
                Some((runtime, append)) => runtime.on_external_append(append, answer),
                None => answer(),
            }
        };
        append::enqueue_append(&*self.options.journal, append, Box::new(done));
        let ended = || AppendError::Broken { reason: "the store has ended".into() };
        answered.await.map_err(|_| ended())??;
        self.options.faults.reach_fault_point("guide:committed");
        Ok(())
    }
}

/// The run as its row describes it, with the number of its last event.
pub(super) fn guided_run_from_row(row: &RunRow, seq: Seq, imported: bool) -> Box<Run> {
    let RunRow { id, session, workflow, caller, .. } = row.clone();
    let submission = RunSubmission::new(id, session, workflow, caller, serde_json::Value::Null);
    let submission = RunSubmission { guided: true, ..submission };
    Box::new(Run::from_index_row(Box::new(submission), row.created_at, row.state, seq, imported))
}

pub(super) fn guided_error_from_refusal(run: RunId, refusal: CommandRefusal) -> GuidedRunError {
    match refusal {
        CommandRefusal::Ended { state } => GuidedRunError::Ended { run, state },
        CommandRefusal::NotAdopted => GuidedRunError::NotAdopted { run },
        CommandRefusal::TooManyAttempts(block) => GuidedRunError::TooManyAttempts { run, block: *block },
        CommandRefusal::UnknownQuestion(_)
        | CommandRefusal::ProgramNotIdle
        | CommandRefusal::NotSubmitted
        | CommandRefusal::AlreadySubmitted
        | CommandRefusal::StepNote(_)
        | CommandRefusal::Illegal(_) => GuidedRunError::Internal { reason: refusal.to_string() },
    }
}
