//! Dispatch: the model's loop starts a workflow. The first answer of the workflow is the call's result;
//! the workflow then continues on its own (D2). The result goes to the model and to the parent's
//! watchers (D3, D5).

use std::time::Duration;

use serde_json::{Value, json};
use trackway_domain::{
    FirstAnswer, FirstAnswerKind, Object, Op, Part, RunId, ValidationError, is_too_deep, matches_pattern,
};

use super::{tool_calls::CallOutcome, turn_driver::TurnDriver, turn_start::PendingQuestion};
use crate::{ContentPiece, PendingCall, ToolCallRecord, content_pieces};

impl TurnDriver {
    pub(super) async fn dispatch_workflow(
        &self,
        waiting: &PendingCall,
        workflow: &str,
        description: &str,
        input: Value,
    ) -> CallOutcome {
        let (op, run) = match self.stage.dispatch(&waiting.step_key(), workflow, input).await {
            Ok(started) => started,
            Err(error) => {
                let why = format!("{error}. Nothing was started.");
                let failed = not_started_record(workflow, description, &why);
                return self.record_result(waiting, failed).await.into();
            }
        };
        let answer = self.await_first_answer(&op, workflow).await;
        self.report_dispatch(waiting, &DispatchResult { run, workflow, description, answer }).await
    }

    /// The first answer, if it arrives in time. Most arrive within milliseconds.
    pub(super) async fn await_first_answer(&self, op: &Op, workflow: &str) -> Option<FirstAnswer> {
        self.stage.first_answer_or_timeout(op, self.first_answer_timeout(workflow)).await
    }

    /// Records the result, and notifies the parent's watchers once, about this run only (D5).
    pub(super) async fn report_dispatch(
        &self,
        waiting: &PendingCall,
        result: &DispatchResult<'_>,
    ) -> CallOutcome {
        let record = self.record_result(waiting, result.to_call_record()).await;
        let (parts, metadata) = result.to_status_update();
        self.stage.report_other_run(result.run, parts, metadata).await;
        CallOutcome { record, view: result.to_result_view() }
    }

    /// The timeout from the agent's file, else from the workflow, else from the workspace.
    fn first_answer_timeout(&self, workflow: &str) -> Duration {
        let of_agent = self.spec.first_answer_timeouts.iter();
        let of_agent = of_agent.filter(|(pattern, _)| matches_pattern(pattern, workflow));
        if let Some((_, seconds)) = of_agent.max_by_key(|(pattern, _)| pattern.len()) {
            return Duration::from_secs(*seconds);
        }
        let programs = self.stage.list_programs();
        let program = programs.iter().find(|program| program.info().name == workflow);
        let own = program.and_then(|program| program.first_answer_timeout());
        own.unwrap_or_else(|| self.resources.snapshot().first_answer_timeout)
    }
}

/// Additional content for the artifact of a result.
#[derive(Debug, Default)]
pub(super) struct ResultView {
    /// Replaces the text for the model, if there is any.
    pub(super) parts: Vec<Part>,
    pub(super) metadata: Object,
}

/// A workflow that was dispatched or answered, and its reply.
pub(super) struct DispatchResult<'a> {
    pub(super) run: RunId,
    pub(super) workflow: &'a str,
    pub(super) description: &'a str,
    /// None if it did not reply in time.
    pub(super) answer: Option<FirstAnswer>,
}

impl DispatchResult<'_> {
    fn answer_kind(&self) -> Option<FirstAnswerKind> {
        self.answer.as_ref().map(|answer| answer.kind)
    }

    fn outcome_label(&self) -> &'static str {
        match self.answer_kind() {
            Some(FirstAnswerKind::Answered) => "answered",
            Some(FirstAnswerKind::Rejected) => "rejected",
            Some(FirstAnswerKind::InputRequired) => "input-required",
            Some(FirstAnswerKind::AuthRequired) => "auth-required",
            Some(FirstAnswerKind::Failed) => "failed",
            None => "timeout",
        }
    }

    fn workflow_metadata(&self) -> Value {
        describe_workflow(self.workflow, self.description)
    }

    fn answer_parts(&self) -> &[Part] {
        self.answer.as_ref().map(|answer| answer.parts.as_slice()).unwrap_or_default()
    }

    /// One sentence for people.
    fn render_sentence(&self) -> String {
        let Self { workflow, run, .. } = self;
        let reason = self
            .failure_reason()
            .map(|reason| format!(": {}", content_pieces::truncate_to_part_limit(reason)));
        let reason = reason.unwrap_or_default();
        let said = match self.answer_kind() {
            Some(FirstAnswerKind::Answered) => "answered",
            Some(FirstAnswerKind::Rejected) => &format!("declined{reason}"),
            Some(FirstAnswerKind::InputRequired) => "has a question",
            Some(FirstAnswerKind::AuthRequired) => "asks for permission",
            Some(FirstAnswerKind::Failed) => &format!("failed{reason}"),
            None => "has been started and has not answered yet",
        };
        format!("{workflow} {said} (task {run}).")
    }

    fn failure_reason(&self) -> Option<&str> {
        self.answer.as_ref()?.reason.as_deref()
    }

    /// The result for the model: the outcome as data, followed by images.
    pub(super) fn to_call_record(&self) -> ToolCallRecord {
        let mut result = json!({
            "outcome": self.outcome_label(),
            "result": content_pieces::parts_to_json(self.answer_parts()),
            "taskId": self.run,
            "metadata": self.workflow_metadata(),
        });
        if let Some(message) = self.render_message() {
            result["message"] = message.into();
        }
        if let Some(schema) = self.answer.as_ref().and_then(|answer| answer.schema.as_ref()) {
            insert_schema(&mut result, schema);
        }
        let mut record = ToolCallRecord::from_json(&result);
        record.pieces.extend(content_pieces::image_pieces(self.answer_parts()));
        record
    }

    /// The content of the result's artifact: the parts of the answer unchanged, plus the outcome of the
    /// dispatch. No parts if the answer has none.
    pub(super) fn to_result_view(&self) -> ResultView {
        let mut metadata = Object::new();
        metadata.insert("outcome".to_owned(), self.outcome_label().into());
        metadata.insert("taskId".to_owned(), self.run.to_string().into());
        metadata.insert("referencedWorkflow".to_owned(), self.workflow_metadata());
        ResultView { parts: self.answer_parts().to_vec(), metadata }
    }

    fn render_message(&self) -> Option<String> {
        let about = match self.answer_kind() {
            None => "It has not answered yet and goes on in the background.",
            Some(FirstAnswerKind::InputRequired) => {
                "It waits for the user's answer, which has to satisfy the schema."
            }
            Some(FirstAnswerKind::AuthRequired) => {
                "It waits for the user's authorization. Only a person can give it: tell the user what is \
                 asked."
            }
            Some(FirstAnswerKind::Answered) => return None,
            Some(FirstAnswerKind::Rejected | FirstAnswerKind::Failed) => {
                return self.failure_reason().map(content_pieces::truncate_to_part_limit);
            }
        };
        Some(about.to_owned())
    }

    /// The message for the parent's watchers: a sentence, then the parts.
    pub(super) fn to_status_update(&self) -> (Vec<Part>, Object) {
        let mut parts = vec![Part::text(self.render_sentence())];
        parts.extend(self.answer_parts().iter().cloned());
        let mut metadata = Object::new();
        metadata.insert("referencedWorkflow".to_owned(), self.workflow_metadata());
        (parts, metadata)
    }
}

fn describe_workflow(workflow: &str, description: &str) -> Value {
    json!({ "workflowName": workflow, "description": description, "pluginId": workflow })
}

/// The result of a dispatch that started no child. It has the form of every dispatch result, without a
/// task.
pub(super) fn not_started_record(workflow: &str, description: &str, why: &str) -> ToolCallRecord {
    ToolCallRecord::from_json(&json!({
        "outcome": "failed",
        "result": [],
        "metadata": describe_workflow(workflow, description),
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
    insert_schema(&mut result, schema);
    ToolCallRecord { failed: true, ..ToolCallRecord::from_json(&result) }
}

/// The result for the model when only a person may answer the question.
pub(super) fn person_required_record(open: &PendingQuestion) -> ToolCallRecord {
    let run = open.run;
    let message = "This task asks for an authorization. Only a person can give it; nothing was sent. Tell \
                   the user what is asked, and how to answer: at the task itself, or here with a message \
                   that names the task or gives the fields as name=value.";
    let result = json!({
        "outcome": "person-required",
        "result": [],
        "taskId": run,
        "workflow": open.workflow,
        "message": message,
    });
    ToolCallRecord { failed: true, ..ToolCallRecord::from_json(&result) }
}

/// The schema that an answer must satisfy, if it is short enough for a model.
fn insert_schema(result: &mut Value, schema: &Value) {
    let bytes = schema.to_string().len();
    if bytes <= content_pieces::PART_BYTES_MAX {
        result["schema"] = schema.clone();
    } else {
        result["schemaLeftOut"] = format!("{bytes} bytes").into();
    }
}

/// A record as parts, for its artifact. Data that is nested too deeply to be recorded as data becomes
/// the text that the model receives.
pub(super) fn record_to_parts(record: &ToolCallRecord) -> Vec<Part> {
    let part = |piece: &ContentPiece| match piece {
        ContentPiece::Text(text) => match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) if !is_too_deep(&value) => Part::data(value),
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
