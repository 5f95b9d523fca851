//! Dispatch: the model's loop starts a workflow. The first answer of the workflow is the call's result;
//! the workflow then continues on its own (D2). The result goes to the model and to the parent's
//! watchers (D3, D5).

use std::time::Duration;

use serde_json::{Value, json};
use trackway_domain::{
    ChildFirstAnswer, ChildFirstAnswerKind, Object, Op, Part, RunId, ValidationError, is_json_too_deep,
    matches_wildcard,
};

use super::{
    tool_call_execution::ToolCallOutcome, turn_driver::AgentTurnDriver, turn_start::OpenSessionQuestion,
};
use crate::{ContentPiece, PendingToolCall, ToolCallRecord, content_pieces};

impl AgentTurnDriver {
    pub(super) async fn dispatch_workflow(
        &self,
        pending_call: &PendingToolCall,
        workflow: &str,
        description: &str,
        input: Value,
    ) -> ToolCallOutcome {
        let (op, run) =
            match self.stage.dispatch_child_run(&pending_call.call_step_key(), workflow, input).await {
                Ok(started) => started,
                Err(error) => {
                    let why = format!("{error}. Nothing was started.");
                    let failed = workflow_not_started_record(workflow, description, &why);
                    return self.record_call_result(pending_call, failed).await.into();
                }
            };
        let answer = self.await_child_first_answer(&op, workflow).await;
        self.record_and_report_dispatch(
            pending_call,
            &WorkflowDispatchResult { run, workflow, description, answer },
        )
        .await
    }

    /// The first answer, if it arrives in time. Most arrive within milliseconds.
    pub(super) async fn await_child_first_answer(&self, op: &Op, workflow: &str) -> Option<ChildFirstAnswer> {
        self.stage.wait_for_first_answer_or_timeout(op, self.workflow_first_answer_timeout(workflow)).await
    }

    /// Records the result, and notifies the parent's watchers once, about this run only (D5).
    pub(super) async fn record_and_report_dispatch(
        &self,
        pending_call: &PendingToolCall,
        result: &WorkflowDispatchResult<'_>,
    ) -> ToolCallOutcome {
        let record = self.record_call_result(pending_call, result.to_tool_call_record()).await;
        let (parts, metadata) = result.to_watcher_status_update();
        self.stage.report_status_of_other_run(result.run, parts, metadata).await;
        ToolCallOutcome { record, view: result.to_result_artifact_content() }
    }

    /// The timeout from the agent's file, else from the workflow, else from the workspace.
    fn workflow_first_answer_timeout(&self, workflow: &str) -> Duration {
        let of_agent = self.spec.first_answer_timeouts.iter();
        let of_agent = of_agent.filter(|(pattern, _)| matches_wildcard(pattern, workflow));
        if let Some((_, seconds)) = of_agent.max_by_key(|(pattern, _)| pattern.len()) {
            return Duration::from_secs(*seconds);
        }
        let programs = self.stage.list_available_programs();
        let program = programs.iter().find(|program| program.info().name == workflow);
        let own = program.and_then(|program| program.first_answer_timeout());
        own.unwrap_or_else(|| self.resources.current_snapshot().first_answer_timeout)
    }
}

/// Additional content for the artifact of a result.
#[derive(Debug, Default)]
pub(super) struct ResultArtifactContent {
    /// Replaces the text for the model, if there is any.
    pub(super) parts: Vec<Part>,
    pub(super) metadata: Object,
}

/// A workflow that was dispatched or answered, and its reply.
pub(super) struct WorkflowDispatchResult<'a> {
    pub(super) run: RunId,
    pub(super) workflow: &'a str,
    pub(super) description: &'a str,
    /// None if it did not reply in time.
    pub(super) answer: Option<ChildFirstAnswer>,
}

impl WorkflowDispatchResult<'_> {
    fn first_answer_kind(&self) -> Option<ChildFirstAnswerKind> {
        self.answer.as_ref().map(|answer| answer.kind)
    }

    fn dispatch_outcome_label(&self) -> &'static str {
        match self.first_answer_kind() {
            Some(ChildFirstAnswerKind::Answered) => "answered",
            Some(ChildFirstAnswerKind::Rejected) => "rejected",
            Some(ChildFirstAnswerKind::InputRequired) => "input-required",
            Some(ChildFirstAnswerKind::AuthRequired) => "auth-required",
            Some(ChildFirstAnswerKind::Failed) => "failed",
            None => "timeout",
        }
    }

    fn dispatched_workflow_metadata(&self) -> Value {
        workflow_metadata_json(self.workflow, self.description)
    }

    fn first_answer_parts(&self) -> &[Part] {
        self.answer.as_ref().map(|answer| answer.parts.as_slice()).unwrap_or_default()
    }

    /// One sentence for people.
    fn render_dispatch_status(&self) -> String {
        let Self { workflow, run, .. } = self;
        let reason = self
            .first_answer_failure_reason()
            .map(|reason| format!(": {}", content_pieces::truncate_to_part_limit(reason)));
        let reason = reason.unwrap_or_default();
        let said = match self.first_answer_kind() {
            Some(ChildFirstAnswerKind::Answered) => "answered",
            Some(ChildFirstAnswerKind::Rejected) => &format!("declined{reason}"),
            Some(ChildFirstAnswerKind::InputRequired) => "has a question",
            Some(ChildFirstAnswerKind::AuthRequired) => "asks for permission",
            Some(ChildFirstAnswerKind::Failed) => &format!("failed{reason}"),
            None => "has been started and has not answered yet",
        };
        format!("{workflow} {said} (task {run}).")
    }

    fn first_answer_failure_reason(&self) -> Option<&str> {
        self.answer.as_ref()?.reason.as_deref()
    }

    /// The result for the model: the outcome as data, followed by images.
    pub(super) fn to_tool_call_record(&self) -> ToolCallRecord {
        let mut result = json!({
            "outcome": self.dispatch_outcome_label(),
            "result": content_pieces::parts_to_json(self.first_answer_parts()),
            "taskId": self.run,
            "metadata": self.dispatched_workflow_metadata(),
        });
        if let Some(message) = self.render_hint_for_model() {
            result["message"] = message.into();
        }
        if let Some(schema) = self.answer.as_ref().and_then(|answer| answer.schema.as_ref()) {
            insert_answer_schema(&mut result, schema);
        }
        let mut record = ToolCallRecord::record_from_json(&result);
        record.pieces.extend(content_pieces::image_pieces_from_parts(self.first_answer_parts()));
        record
    }

    /// The content of the result's artifact: the parts of the answer unchanged, plus the outcome of the
    /// dispatch. No parts if the answer has none.
    pub(super) fn to_result_artifact_content(&self) -> ResultArtifactContent {
        let mut metadata = Object::new();
        metadata.insert("outcome".to_owned(), self.dispatch_outcome_label().into());
        metadata.insert("taskId".to_owned(), self.run.to_string().into());
        metadata.insert("referencedWorkflow".to_owned(), self.dispatched_workflow_metadata());
        ResultArtifactContent { parts: self.first_answer_parts().to_vec(), metadata }
    }

    fn render_hint_for_model(&self) -> Option<String> {
        let about = match self.first_answer_kind() {
            None => "It has not answered yet and goes on in the background.",
            Some(ChildFirstAnswerKind::InputRequired) => {
                "It waits for the user's answer, which has to satisfy the schema."
            }
            Some(ChildFirstAnswerKind::AuthRequired) => {
                "It waits for the user's authorization. Only a person can give it: tell the user what is \
                 asked."
            }
            Some(ChildFirstAnswerKind::Answered) => return None,
            Some(ChildFirstAnswerKind::Rejected | ChildFirstAnswerKind::Failed) => {
                return self.first_answer_failure_reason().map(content_pieces::truncate_to_part_limit);
            }
        };
        Some(about.to_owned())
    }

    /// The message for the parent's watchers: a sentence, then the parts.
    pub(super) fn to_watcher_status_update(&self) -> (Vec<Part>, Object) {
        let mut parts = vec![Part::text(self.render_dispatch_status())];
        parts.extend(self.first_answer_parts().iter().cloned());
        let mut metadata = Object::new();
        metadata.insert("referencedWorkflow".to_owned(), self.dispatched_workflow_metadata());
        (parts, metadata)
    }
}

fn workflow_metadata_json(workflow: &str, description: &str) -> Value {
    json!({ "workflowName": workflow, "description": description, "pluginId": workflow })
}

/// The result of a dispatch that started no child. It has the form of every dispatch result, without a
/// task.
pub(super) fn workflow_not_started_record(workflow: &str, description: &str, why: &str) -> ToolCallRecord {
    ToolCallRecord::record_from_json(&json!({
        "outcome": "failed",
        "result": [],
        "metadata": workflow_metadata_json(workflow, description),
        "message": content_pieces::truncate_to_part_limit(why),
    }))
}

/// The result for the model when the question rejects an answer.
pub(super) fn rejected_answer_record(
    run: RunId,
    problems: &[ValidationError],
    schema: &Value,
) -> ToolCallRecord {
    let wrong: Vec<Value> =
        problems.iter().map(|problem| json!({ "path": problem.path, "message": problem.message })).collect();
    let message = "The answer does not satisfy the schema; the question is still open.";
    let mut result = json!({
        "outcome": "input-required",
        "result": [],
        "taskId": run,
        "message": message,
        "errors": wrong,
    });
    insert_answer_schema(&mut result, schema);
    ToolCallRecord { failed: true, ..ToolCallRecord::record_from_json(&result) }
}

/// The result for the model when only a person may answer the question.
pub(super) fn person_required_record(open_question: &OpenSessionQuestion) -> ToolCallRecord {
    let run = open_question.run;
    let message = "This task asks for an authorization. Only a person can give it; nothing was sent. Tell \
                   the user what is asked, and how to answer: at the task itself, or here with a message \
                   that names the task or gives the fields as name=value.";
    let result = json!({
        "outcome": "person-required",
        "result": [],
        "taskId": run,
        "workflow": open_question.workflow,
        "message": message,
    });
    ToolCallRecord { failed: true, ..ToolCallRecord::record_from_json(&result) }
}

/// The schema that an answer must satisfy, if it is short enough for a model.
fn insert_answer_schema(result: &mut Value, schema: &Value) {
    let bytes = schema.to_string().len();
    if bytes <= content_pieces::PART_BYTES_MAX {
        result["schema"] = schema.clone();
    } else {
        result["schemaLeftOut"] = format!("{bytes} bytes").into();
    }
}

/// A record as parts, for its artifact. Data that is nested too deeply to be recorded as data becomes
/// the text that the model receives.
pub(super) fn call_record_to_parts(record: &ToolCallRecord) -> Vec<Part> {
    let part = |piece: &ContentPiece| match piece {
        ContentPiece::Text(text) => match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) if !is_json_too_deep(&value) => {
                Part::data(value)
            }
            _ => Part::text(text),
        },
        ContentPiece::Image { media_type, base64 } => Part::file(trackway_domain::File {
            name: None,
            mime_type: Some(media_type.clone()),
            source: trackway_domain::FileSource::Base64(base64.clone()),
        }),
    };
    record.pieces.iter().map(part).collect()
}

#[cfg(test)]
mod tests;
