//! The context at the start of a turn: the time, the earlier turns, and the open questions. It is
//! recorded once, so that a turn that resumes sees the same context.

use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use trackway_domain::{Event, Failure, Question, RunId, Seq, StepOutcome, Timestamp};
use trackway_runtime::{OpenQuestion, ProgramStop, QuestionSource, RetryPolicy, SessionHistory, StepAttempt};

use super::turn_driver::{AgentTurnDriver, decode_step_outcome, encode_step_outcome, turn_failed_stop};
use crate::{ConversationEntry, EndedTaskNote, append_turn_from_log, history_compaction, log_has_compaction};

/// The key of the step that records the context.
const BEGIN_KEY: &str = "begin";

/// Earlier turns that a turn reads. Older ones are usually compacted or no longer relevant.
/// Limit (Agents): earlier turns of a conversation that a turn reads.
const EARLIER_MAX: usize = 200;

/// The context at the start of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TurnStartContext {
    pub(super) began: Timestamp,
    /// Earlier turns of this agent in the session, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<EarlierTurnRef>,
    /// Questions of the session that wait for an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) questions: Vec<OpenSessionQuestion>,
    /// Whether earlier turns dispatched any task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_dispatched: bool,
    /// Dispatched tasks that ended since the previous turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ended: Vec<EndedTaskNote>,
}

/// A turn up to one of its events. This part of the log never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EarlierTurnRef {
    run: RunId,
    seq: Seq,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenSessionQuestion {
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

impl AgentTurnDriver {
    /// The recorded context, and the conversation up to it.
    pub(super) async fn load_turn_start_context(
        &self,
    ) -> Result<(TurnStartContext, Vec<ConversationEntry>), ProgramStop> {
        // The step has already read this.
        let read: Mutex<Option<Vec<Vec<Event>>>> = Mutex::default();
        let mut work =
            |_: StepAttempt| -> BoxFuture<'_, _> { Box::pin(self.read_turn_start_from_history(&read)) };
        let (_, outcome) = self.stage.run_read_step(BEGIN_KEY, RetryPolicy::default(), &mut work).await;
        let begin: TurnStartContext = decode_step_outcome(outcome)?;
        let read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        let logs = match (read, self.stage.session_history()) {
            (Some(logs), _) => logs,
            (None, Some(archive)) => self.reload_earlier_turn_logs(&archive, &begin.earlier).await?,
            // A check of a log does not read the turns before it.
            (None, None) => Vec::new(),
        };
        let history =
            logs.iter().fold(Vec::new(), |earlier, log| append_turn_from_log(earlier, log, Seq::MAX));
        Ok((begin, history))
    }

    async fn read_turn_start_from_history(
        &self,
        read: &Mutex<Option<Vec<Vec<Event>>>>,
    ) -> Result<serde_json::Value, Failure> {
        let archive =
            self.stage.session_history().ok_or_else(|| session_history_failure(&"there is no archive"))?;
        let mut earlier = Vec::new();
        let mut logs: Vec<Vec<Event>> = Vec::new();
        let mut tokens = 0;
        let runs =
            archive.list_earlier_workflow_runs(&self.spec.name, self.stage.run_id(), EARLIER_MAX).await;
        for run in runs.map_err(|error| session_history_failure(&error))? {
            let stored =
                archive.load_run_events(run, None).await.map_err(|error| session_history_failure(&error))?;
            let Some(last) = stored.last() else { continue };
            earlier.push(EarlierTurnRef { run, seq: last.seq });
            let log: Vec<Event> = stored.into_iter().map(|stored| stored.event).collect();
            tokens += history_compaction::estimate_conversation_tokens(&append_turn_from_log(
                Vec::new(),
                &log,
                Seq::MAX,
            ));
            let whole = log_has_compaction(&log) || tokens > history_compaction::HISTORY_TOKENS_MAX;
            logs.push(log);
            if whole {
                break;
            }
        }
        earlier.reverse();
        logs.reverse();
        let questions = self.list_open_session_questions().await?;
        let turns: Vec<RunId> = earlier.iter().map(|turn| turn.run).collect();
        let told = logs.iter().flat_map(|log| reported_ended_task_ids(log)).collect();
        let (has_dispatched, ended) = self.list_unreported_ended_tasks(&archive, &turns, &told).await?;
        let began = self.stage.unrecorded_now();
        let begin = TurnStartContext { began, earlier, questions, has_dispatched, ended };
        *read.lock().unwrap_or_else(PoisonError::into_inner) = Some(logs);
        encode_step_outcome(&begin)
    }

    /// Questions of the session that wait for an answer now. For use within a step.
    pub(super) async fn list_open_session_questions(&self) -> Result<Vec<OpenSessionQuestion>, Failure> {
        let archive =
            self.stage.session_history().ok_or_else(|| session_history_failure(&"there is no archive"))?;
        let open = archive.list_open_questions().await.map_err(|error| session_history_failure(&error))?;
        let others = open.into_iter().filter(|open| open.run != self.stage.run_id());
        let open = |OpenQuestion { run, workflow, question, source: asker }| OpenSessionQuestion {
            run,
            workflow,
            question,
            of_workflow: asker == QuestionSource::Workflow,
            description: String::new(),
        };
        Ok(others.map(open).collect())
    }

    async fn reload_earlier_turn_logs(
        &self,
        history: &SessionHistory,
        earlier: &[EarlierTurnRef],
    ) -> Result<Vec<Vec<Event>>, ProgramStop> {
        let mut logs = Vec::with_capacity(earlier.len());
        for turn in earlier {
            let stored = history.load_run_events(turn.run, Some(turn.seq)).await.map_err(turn_failed_stop)?;
            logs.push(stored.into_iter().map(|stored| stored.event).collect());
        }
        Ok(logs)
    }
}

/// The tasks whose end was reported to the turn of this log.
fn reported_ended_task_ids(log: &[Event]) -> Vec<String> {
    let begin = log.iter().find_map(|event| match event {
        Event::StepDone { op, outcome: StepOutcome::Ok(value) } if *op.key == *BEGIN_KEY => {
            serde_json::from_value::<TurnStartContext>(value.clone()).ok()
        }
        _ => None,
    });
    begin.map_or_else(Vec::new, |begin| begin.ended.into_iter().map(|task| task.task_id).collect())
}

pub(super) fn session_history_failure(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("the conversation cannot be read: {error}"))
}
