//! The status of tasks that a conversation dispatched: a note in the next turn, and the tool
//! `task_status`.

use std::collections::BTreeSet;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use trackway_domain::{Failure, Part, RunId};
use trackway_engine::RunView;
use trackway_ports::RunRow;
use trackway_runtime::{SessionHistory, StepAttempt};

use super::{turn_driver::AgentTurnDriver, turn_start::session_history_failure};
use crate::{
    EndedTaskNote, PendingToolCall, STATUS_TOOL, ToolCallRecord, ToolSpec,
    content_pieces::{self, text_truncation},
};

/// Runs of the session that are searched for tasks of the conversation, the newest first.
///
/// Limit (Agents): runs of a session that are searched for dispatched tasks.
const ROWS_MAX: usize = 256;

/// Tasks that are reported to one turn. They are part of every request of the turn.
///
/// Limit (Agents): ended tasks in a turn's context, and tasks in one answer of `task_status`.
const TASKS_MAX: usize = 16;

/// Longest text of one note.
///
/// Limit (Agents): text about one ended task in a turn's context, in bytes.
const MESSAGE_BYTES_MAX: usize = 1024;

impl AgentTurnDriver {
    /// Whether those turns dispatched any task, and the tasks that ended since the newest of them began
    /// and are not in `reported`. For use within a step.
    pub(super) async fn list_unreported_ended_tasks(
        &self,
        history: &SessionHistory,
        turns: &[RunId],
        reported: &BTreeSet<String>,
    ) -> Result<(bool, Vec<EndedTaskNote>), Failure> {
        let Some(newest) = turns.iter().max() else { return Ok((false, Vec::new())) };
        let rows =
            history.list_session_run_rows(ROWS_MAX).await.map_err(|error| session_history_failure(&error))?;
        let since = rows.iter().find(|row| row.id == *newest).map(|row| row.created_at);
        let of_turn = |row: &&RunRow| row.parent.is_some_and(|parent| turns.contains(&parent));
        let dispatched: Vec<&RunRow> = rows.iter().filter(of_turn).collect();
        let mut ended = Vec::new();
        for row in &dispatched {
            let is_new =
                since.is_some_and(|since| row.status_at >= since) && !reported.contains(&row.id.to_string());
            if ended.len() == TASKS_MAX || !row.state.is_terminal() || !is_new {
                continue;
            }
            let view =
                history.load_run_view(row.id).await.map_err(|error| session_history_failure(&error))?;
            ended.push(EndedTaskNote {
                task_id: row.id.to_string(),
                workflow: row.workflow.name.clone(),
                state: row.state.to_string(),
                message: view
                    .as_ref()
                    .and_then(run_last_message_text)
                    .map(|text| text_truncation::truncate_text_with_note(&text, MESSAGE_BYTES_MAX)),
            });
        }
        // The oldest first, as in a conversation.
        ended.reverse();
        Ok((!dispatched.is_empty(), ended))
    }

    /// Reads the status of tasks that this conversation dispatched, as a recorded call.
    pub(super) async fn run_task_status_call(
        &self,
        pending_call: &PendingToolCall,
        arguments: &Value,
    ) -> ToolCallRecord {
        let wanted = arguments.get("taskId").and_then(Value::as_str);
        let mut work =
            |_: StepAttempt| -> BoxFuture<'_, _> { Box::pin(self.load_dispatched_task_status(wanted)) };
        self.run_step_as_tool_call(&pending_call.call_step_key(), &mut work).await
    }

    async fn load_dispatched_task_status(&self, task_id: Option<&str>) -> Result<Value, Failure> {
        let archive =
            self.stage.session_history().ok_or_else(|| session_history_failure(&"there is no archive"))?;
        let rows =
            archive.list_session_run_rows(ROWS_MAX).await.map_err(|error| session_history_failure(&error))?;
        let is_turn = |id: RunId| {
            let own = |row: &RunRow| row.id == id && row.workflow.name == self.spec.name;
            id == self.stage.run_id() || rows.iter().any(own)
        };
        let tasks = rows.iter().filter(|row| row.parent.is_some_and(is_turn));
        let tasks = tasks.filter(|row| task_id.is_none_or(|id| row.id.to_string() == id));
        let mut told = Vec::new();
        for row in tasks.take(TASKS_MAX) {
            let view =
                archive.load_run_view(row.id).await.map_err(|error| session_history_failure(&error))?;
            told.push(task_status_json(row, view.as_ref()));
        }
        let record = if told.is_empty() && task_id.is_some() {
            ToolCallRecord::failed_call_with_reason("This conversation has dispatched no task with that id.")
        } else {
            ToolCallRecord::record_from_json(&json!({ "tasks": told }))
        };
        record.with_end_time(self.stage.unrecorded_now()).to_value()
    }
}

fn task_status_json(row: &RunRow, view: Option<&RunView>) -> Value {
    let mut told = Map::new();
    told.insert("taskId".to_owned(), row.id.to_string().into());
    told.insert("workflow".to_owned(), row.workflow.name.clone().into());
    let Some(view) = view else {
        told.insert("state".to_owned(), row.state.to_string().into());
        return told.into();
    };
    told.insert("state".to_owned(), view.state.to_string().into());
    if let Some(text) = run_last_message_text(view) {
        told.insert(
            "message".to_owned(),
            text_truncation::truncate_text_with_note(&text, MESSAGE_BYTES_MAX).into(),
        );
    }
    if !view.output.is_null() {
        let output = Part::data(view.output.clone());
        told.insert("output".to_owned(), content_pieces::parts_to_json(&[output])[0]["data"].clone());
    }
    told.into()
}

/// The last message of a run.
fn run_last_message_text(view: &RunView) -> Option<String> {
    let texts = view.status_message()?.parts.iter().filter_map(Part::as_text);
    let text = texts.collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// The tool definition for the model.
pub(super) fn task_status_tool_spec() -> ToolSpec {
    ToolSpec {
        name: STATUS_TOOL.to_owned(),
        description: "Says what became of the tasks that this conversation has dispatched: state, last \
                      message and output. Without `taskId` the newest ones."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "taskId": { "type": "string", "description": "The task to look at." },
            },
        }),
    }
}
