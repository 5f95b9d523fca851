//! Deciding and writing: one command, one append, answered after its commit.

use tokio::sync::oneshot;
use trackway_domain::{Command, GuidedCommand, RunId, Seq, Submission};
use trackway_engine::{Decision, Env, GuidedReply, Refusal, Reply, Run, decide};
use trackway_ports::{Append, AppendError, Claim, Pinned, Receipt, RunRow};

use super::{Guide, GuideError, store::unwritable};
use crate::{
    append::{self, append_of, fold, row_of},
    commit::Appended,
    live::RowMarks,
};

/// What goes with the events of a command.
#[derive(Debug, Default)]
pub(super) struct With {
    pub(super) pins: Vec<Pinned>,
    pub(super) claim: Option<Claim>,
}

/// What became of a command.
#[derive(Debug)]
pub(super) enum Executed {
    /// It is durable, where there was anything to record.
    Done(Option<Box<GuidedReply>>),
    /// The claim was made before, by the same command.
    Repeated,
    /// Somebody else was faster: it is to be decided on the newer log.
    Lost,
}

/// What is to be written, where anything is, and what is replied once it is durable.
struct Decided {
    append: Option<Box<Append>>,
    reply: Option<Box<GuidedReply>>,
}

impl Guide {
    /// Decides a command on the run as it is, and commits it. Whoever watches the run in this process sees
    /// it, also where the caller has gone meanwhile.
    pub(super) async fn execute(
        &self,
        id: RunId,
        run: Option<Box<Run>>,
        command: GuidedCommand,
        with: With,
    ) -> Result<Executed, GuideError> {
        let decided = self.decide(id, run, command);
        let Decided { append, reply } = decided.map_err(|error| refused(id, error))?;
        let Some(mut append) = append else { return Ok(Executed::Done(reply)) };
        (append.pins, append.claim) = (with.pins, with.claim);
        match self.commit(*append).await {
            Ok(()) => Ok(Executed::Done(reply)),
            Err(AppendError::Claimed(_)) => Ok(Executed::Repeated),
            Err(AppendError::Conflict { .. }) => Ok(Executed::Lost),
            Err(error) => Err(unwritable(&error)),
        }
    }

    fn decide(
        &self,
        id: RunId,
        run: Option<Box<Run>>,
        command: GuidedCommand,
    ) -> Result<Decided, Refusal> {
        let now = self.options.clock.now();
        let ids = || self.options.ids.uuid();
        let env = Env { now, ids: &ids, schemas: &*self.schemas };
        let command = Command::Guided(Box::new(command));
        let Decision { events, reply, .. } = decide(run.as_deref(), command, env)?;
        let reply = match reply {
            Reply::Guided(reply) => Some(reply),
            _ => None,
        };
        if events.is_empty() {
            return Ok(Decided { append: None, reply });
        }
        let (expected, before) =
            run.as_ref().map_or((0, None), |run| (run.seq, Some(run.state.name())));
        let folded = fold(run.map(|run| *run), &events, now)?;
        let changed = folded.filter(|run| before != Some(run.state.name()));
        let mut append = Box::new(append_of(id, expected, now, events));
        // The engine never drives it.
        append.row = changed.map(|run| {
            let state = run.state.name();
            row_of(&run, RowMarks { state, runnable: false, parked: false, status_at: now })
        });
        Ok(Decided { append: Some(append), reply })
    }

    /// Hands an append over and waits until it is durable.
    async fn commit(&self, append: Append) -> Result<(), AppendError> {
        // Never closed, so acquiring fails only if that changes.
        let room = self.appends.clone().acquire_owned().await;
        self.options.faults.reach("guide:ordered");
        let (run, expected, at) = (append.run, append.expected, append.at);
        let last = expected + append.events.len() as Seq;
        let runtime = self.runtime.clone();
        // Only who has the run in memory needs a copy.
        let is_live = runtime.as_ref().is_some_and(|runtime| runtime.is_in_memory(run));
        let events = is_live.then(|| append.events.clone());
        let (answer, answered) = oneshot::channel();
        let done = move |result: Result<Receipt, AppendError>| {
            drop(room);
            if let (Ok(receipt), Some(runtime)) = (&result, runtime) {
                runtime.on_append(Appended {
                    run,
                    expected,
                    last,
                    events,
                    at,
                    receipt: receipt.clone(),
                });
            }
            // Nobody listens where the caller has gone.
            let _ = answer.send(result);
        };
        append::send(&*self.options.journal, append, Box::new(done));
        let ended = || AppendError::Broken { reason: "the store has ended".into() };
        answered.await.map_err(|_| ended())??;
        self.options.faults.reach("guide:committed");
        Ok(())
    }
}

/// The run as its row tells, with the number of its last event.
pub(super) fn indexed(row: &RunRow, seq: Seq, imported: bool) -> Box<Run> {
    let RunRow { id, session, workflow, caller, .. } = row.clone();
    let submission = Submission::new(id, session, workflow, caller, serde_json::Value::Null);
    let submission = Submission { guided: true, ..submission };
    Box::new(Run::indexed(Box::new(submission), row.created_at, row.state, seq, imported))
}

pub(super) fn refused(run: RunId, refusal: Refusal) -> GuideError {
    match refusal {
        Refusal::Ended { state } => GuideError::Ended { run, state },
        Refusal::NotAdopted => GuideError::NotAdopted { run },
        Refusal::TooManyAttempts(block) => GuideError::TooManyAttempts { run, block: *block },
        Refusal::UnknownQuestion(_)
        | Refusal::NotSettled
        | Refusal::NotSubmitted
        | Refusal::AlreadySubmitted
        | Refusal::Illegal(_) => GuideError::Internal { reason: refusal.to_string() },
    }
}
