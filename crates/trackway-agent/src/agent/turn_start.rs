//! The context at the start of a turn: the time, the earlier turns, and the open questions. It is
//! recorded once, so that a turn that resumes sees the same context.

use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use trackway_domain::{Event, Failure, Question, RunId, Seq, StepOutcome, Timestamp};
use trackway_runtime::{OpenQuestion, ProgramStop, QuestionSource, RetryPolicy, SessionHistory, StepAttempt};

use super::turn_driver::{TurnDriver, decode_outcome, encode_outcome, turn_failure};
use crate::{ConversationEntry, EndedTask, append_turn_from_log, compact, has_compaction};

/// The key of the step that records the context.
const BEGIN_KEY: &str = "begin";

/// Earlier turns that a turn reads. Older ones are usually compacted or no longer relevant.
/// Limit (Agents): earlier turns of a conversation that a turn reads.
const EARLIER_MAX: usize = 200;

/// The context at the start of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TurnStart {
    pub(super) began: Timestamp,
    /// Earlier turns of this agent in the session, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<EarlierTurn>,
    /// Questions of the session that wait for an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) questions: Vec<PendingQuestion>,
    /// Whether earlier turns dispatched any task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_dispatched: bool,
    /// Dispatched tasks that ended since the previous turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ended: Vec<EndedTask>,
}

/// A turn up to one of its events. This part of the log never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EarlierTurn {
    run: RunId,
    seq: Seq,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingQuestion {
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

impl TurnDriver {
    /// The recorded context, and the conversation up to it.
    pub(super) async fn load_turn_start(&self) -> Result<(TurnStart, Vec<ConversationEntry>), ProgramStop> {
        // The step has already read this.
        let read: Mutex<Option<Vec<Vec<Event>>>> = Mutex::default();
        let mut work = |_: StepAttempt| -> BoxFuture<'_, _> { Box::pin(self.read_session_history(&read)) };
        let (_, outcome) = self.stage.read_step(BEGIN_KEY, RetryPolicy::default(), &mut work).await;
        let begin: TurnStart = decode_outcome(outcome)?;
        let read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        let logs = match (read, self.stage.session_history()) {
            (Some(logs), _) => logs,
            (None, Some(archive)) => self.reload_earlier_logs(&archive, &begin.earlier).await?,
            // A check of a log does not read the turns before it.
            (None, None) => Vec::new(),
        };
        let history =
            logs.iter().fold(Vec::new(), |earlier, log| append_turn_from_log(earlier, log, Seq::MAX));
        Ok((begin, history))
    }

    async fn read_session_history(
        &self,
        read: &Mutex<Option<Vec<Vec<Event>>>>,
    ) -> Result<serde_json::Value, Failure> {
        let archive = self.stage.session_history().ok_or_else(|| history_failure(&"there is no archive"))?;
        let mut earlier = Vec::new();
        let mut logs: Vec<Vec<Event>> = Vec::new();
        let mut tokens = 0;
        let runs = archive.list_earlier_runs(&self.spec.name, self.stage.run_id(), EARLIER_MAX).await;
        for run in runs.map_err(|error| history_failure(&error))? {
            let stored = archive.load_events(run, None).await.map_err(|error| history_failure(&error))?;
            let Some(last) = stored.last() else { continue };
            earlier.push(EarlierTurn { run, seq: last.seq });
            let log: Vec<Event> = stored.into_iter().map(|stored| stored.event).collect();
            tokens += compact::estimate_tokens(&append_turn_from_log(Vec::new(), &log, Seq::MAX));
            let whole = has_compaction(&log) || tokens > compact::HISTORY_TOKENS_MAX;
            logs.push(log);
            if whole {
                break;
            }
        }
        earlier.reverse();
        logs.reverse();
        let questions = self.list_open_questions().await?;
        let turns: Vec<RunId> = earlier.iter().map(|turn| turn.run).collect();
        let told = logs.iter().flat_map(|log| reported_task_ids(log)).collect();
        let (has_dispatched, ended) = self.list_ended_tasks(&archive, &turns, &told).await?;
        let began = self.stage.unrecorded_now();
        let begin = TurnStart { began, earlier, questions, has_dispatched, ended };
        *read.lock().unwrap_or_else(PoisonError::into_inner) = Some(logs);
        encode_outcome(&begin)
    }

    /// Questions of the session that wait for an answer now. For use within a step.
    pub(super) async fn list_open_questions(&self) -> Result<Vec<PendingQuestion>, Failure> {
        let archive = self.stage.session_history().ok_or_else(|| history_failure(&"there is no archive"))?;
        let open = archive.list_open_questions().await.map_err(|error| history_failure(&error))?;
        let others = open.into_iter().filter(|open| open.run != self.stage.run_id());
        let open = |OpenQuestion { run, workflow, question, source: asker }| PendingQuestion {
            run,
            workflow,
            question,
            of_workflow: asker == QuestionSource::Workflow,
            description: String::new(),
        };
        Ok(others.map(open).collect())
    }

    async fn reload_earlier_logs(
        &self,
        archive: &SessionHistory,
        earlier: &[EarlierTurn],
    ) -> Result<Vec<Vec<Event>>, ProgramStop> {
        let mut logs = Vec::with_capacity(earlier.len());
        for turn in earlier {
            let stored = archive.load_events(turn.run, Some(turn.seq)).await.map_err(turn_failure)?;
            logs.push(stored.into_iter().map(|stored| stored.event).collect());
        }
        Ok(logs)
    }
}

/// The tasks whose end was reported to the turn of this log.
fn reported_task_ids(log: &[Event]) -> Vec<String> {
    let begin = log.iter().find_map(|event| match event {
        Event::StepDone { op, outcome: StepOutcome::Ok(value) } if *op.key == *BEGIN_KEY => {
            serde_json::from_value::<TurnStart>(value.clone()).ok()
        }
        _ => None,
    });
    begin.map_or_else(Vec::new, |begin| begin.ended.into_iter().map(|task| task.task_id).collect())
}

pub(super) fn history_failure(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("the conversation cannot be read: {error}"))
}
