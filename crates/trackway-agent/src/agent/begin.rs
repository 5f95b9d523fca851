//! The context at the start of a turn: the time, the earlier turns, and the open questions. It is
//! recorded once, so that a turn that resumes sees the same context.

use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use trackway_domain::{Event, Failure, Question, RunId, Seq, StepOutcome, Timestamp};
use trackway_runtime::{Archive, Asker, Attempt, OpenQuestion, RetryPolicy, Stop};

use super::drive::{Driver, recorded, stopped, to_outcome};
use crate::{EndedTask, Entry, compact, is_compacted, transcript};

/// The key of the step that records the context.
const BEGIN_KEY: &str = "begin";

/// Earlier turns that a turn reads. Older ones are usually compacted or no longer relevant.
/// Limit (Agents): earlier turns of a conversation that a turn reads.
const EARLIER_MAX: usize = 200;

/// The context at the start of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) began: Timestamp,
    /// Earlier turns of this agent in the session, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<Earlier>,
    /// Questions of the session that wait for an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) questions: Vec<Open>,
    /// Whether earlier turns dispatched any task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_dispatched: bool,
    /// Dispatched tasks that ended since the previous turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ended: Vec<EndedTask>,
}

/// A turn up to one of its events. This part of the log never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Earlier {
    run: RunId,
    seq: Seq,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) run: RunId,
    pub(super) workflow: String,
    pub(super) question: Question,
    /// Whether a workflow itself asks. Only a person may answer a question of an agent or a tool: it
    /// may ask whether a call is allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) of_workflow: bool,
    /// The description of the workflow, for the update that reports an answer to it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
}

impl Driver {
    /// The recorded context, and the conversation up to it.
    pub(super) async fn begin(&self) -> Result<(Begin, Vec<Entry>), Stop> {
        // The step has already read this.
        let read: Mutex<Option<Vec<Vec<Event>>>> = Mutex::default();
        let mut work = |_: Attempt| -> BoxFuture<'_, _> { Box::pin(self.look_back(&read)) };
        let (_, outcome) = self.stage.read_step(BEGIN_KEY, RetryPolicy::default(), &mut work).await;
        let begin: Begin = recorded(outcome)?;
        let read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        let logs = match (read, self.stage.archive()) {
            (Some(logs), _) => logs,
            (None, Some(archive)) => self.read_again(&archive, &begin.earlier).await?,
            // A check of a log does not read the turns before it.
            (None, None) => Vec::new(),
        };
        let history =
            logs.iter().fold(Vec::new(), |earlier, log| transcript(earlier, log, Seq::MAX));
        Ok((begin, history))
    }

    async fn look_back(
        &self,
        read: &Mutex<Option<Vec<Vec<Event>>>>,
    ) -> Result<serde_json::Value, Failure> {
        let archive = self.stage.archive().ok_or_else(|| unreadable(&"there is no archive"))?;
        let mut earlier = Vec::new();
        let mut logs: Vec<Vec<Event>> = Vec::new();
        let mut tokens = 0;
        let runs = archive.earlier(&self.spec.name, self.stage.run(), EARLIER_MAX).await;
        for run in runs.map_err(|error| unreadable(&error))? {
            let stored = archive.events(run, None).await.map_err(|error| unreadable(&error))?;
            let Some(last) = stored.last() else { continue };
            earlier.push(Earlier { run, seq: last.seq });
            let log: Vec<Event> = stored.into_iter().map(|stored| stored.event).collect();
            tokens += compact::estimate(&transcript(Vec::new(), &log, Seq::MAX));
            let whole = is_compacted(&log) || tokens > compact::HISTORY_TOKENS_MAX;
            logs.push(log);
            if whole {
                break;
            }
        }
        earlier.reverse();
        logs.reverse();
        let questions = self.questions().await?;
        let turns: Vec<RunId> = earlier.iter().map(|turn| turn.run).collect();
        let told = logs.iter().flat_map(|log| ended_told(log)).collect();
        let (has_dispatched, ended) = self.ended_since(&archive, &turns, &told).await?;
        let began = self.stage.moment();
        let begin = Begin { began, earlier, questions, has_dispatched, ended };
        *read.lock().unwrap_or_else(PoisonError::into_inner) = Some(logs);
        to_outcome(&begin)
    }

    /// Questions of the session that wait for an answer now. For use within a step.
    pub(super) async fn questions(&self) -> Result<Vec<Open>, Failure> {
        let archive = self.stage.archive().ok_or_else(|| unreadable(&"there is no archive"))?;
        let open = archive.questions().await.map_err(|error| unreadable(&error))?;
        let others = open.into_iter().filter(|open| open.run != self.stage.run());
        let open = |OpenQuestion { run, workflow, question, asker }| Open {
            run,
            workflow,
            question,
            of_workflow: asker == Asker::Workflow,
            description: String::new(),
        };
        Ok(others.map(open).collect())
    }

    async fn read_again(
        &self,
        archive: &Archive,
        earlier: &[Earlier],
    ) -> Result<Vec<Vec<Event>>, Stop> {
        let mut logs = Vec::with_capacity(earlier.len());
        for turn in earlier {
            let stored = archive.events(turn.run, Some(turn.seq)).await.map_err(stopped)?;
            logs.push(stored.into_iter().map(|stored| stored.event).collect());
        }
        Ok(logs)
    }
}

/// The tasks whose end was reported to the turn of this log.
fn ended_told(log: &[Event]) -> Vec<String> {
    let begin = log.iter().find_map(|event| match event {
        Event::StepDone { op, outcome: StepOutcome::Ok(value) } if *op.key == *BEGIN_KEY => {
            serde_json::from_value::<Begin>(value.clone()).ok()
        }
        _ => None,
    });
    begin.map_or_else(Vec::new, |begin| begin.ended.into_iter().map(|task| task.task_id).collect())
}

pub(super) fn unreadable(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("the conversation cannot be read: {error}"))
}
