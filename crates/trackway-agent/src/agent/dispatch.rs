//! Dispatch: the model's loop starts a workflow. The first answer of the workflow is the call's result;
//! the workflow then continues on its own (D2). The result goes to the model and to the parent's
//! watchers (D3, D5).

use std::time::Duration;

use serde_json::{Value, json};
use trackway_domain::{
    AnswerKind, FirstAnswer, Object, Op, Part, Problem, RunId, is_too_deep, matches_pattern,
};

use super::{begin::Open, call::Outcome, drive::Driver};
use crate::{CallRecord, Piece, Waiting, pieces};

impl Driver {
    pub(super) async fn dispatch(
        &self,
        waiting: &Waiting,
        workflow: &str,
        description: &str,
        input: Value,
    ) -> Outcome {
        let (op, run) = match self.stage.dispatch(&waiting.key(), workflow, input).await {
            Ok(started) => started,
            Err(error) => {
                let why = format!("{error}. Nothing was started.");
                let failed = not_started(workflow, description, &why);
                return self.note(waiting, failed).await.into();
            }
        };
        let answer = self.first_answer(&op, workflow).await;
        self.tell(waiting, &Told { run, workflow, description, answer }).await
    }

    /// The first answer, if it arrives in time. Most arrive within milliseconds.
    pub(super) async fn first_answer(&self, op: &Op, workflow: &str) -> Option<FirstAnswer> {
        self.stage.answer_within(op, self.first_answer_timeout(workflow)).await
    }

    /// Records the result, and notifies the parent's watchers once, about this run only (D5).
    pub(super) async fn tell(&self, waiting: &Waiting, told: &Told<'_>) -> Outcome {
        let record = self.note(waiting, told.record()).await;
        let (parts, metadata) = told.update();
        self.stage.reference(told.run, parts, metadata).await;
        Outcome { record, shown: told.shown() }
    }

    /// The timeout from the agent's file, else from the workflow, else from the workspace.
    fn first_answer_timeout(&self, workflow: &str) -> Duration {
        let of_agent = self.spec.first_answer_timeouts.iter();
        let of_agent = of_agent.filter(|(pattern, _)| matches_pattern(pattern, workflow));
        if let Some((_, seconds)) = of_agent.max_by_key(|(pattern, _)| pattern.len()) {
            return Duration::from_secs(*seconds);
        }
        let programs = self.stage.programs();
        let program = programs.iter().find(|program| program.info().name == workflow);
        let own = program.and_then(|program| program.first_answer_timeout());
        own.unwrap_or_else(|| self.workshop.stock().first_answer_timeout)
    }
}

/// Additional content for the artifact of a result.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Replaces the text for the model, if there is any.
    pub(super) parts: Vec<Part>,
    pub(super) metadata: Object,
}

/// A workflow that was dispatched or answered, and its reply.
pub(super) struct Told<'a> {
    pub(super) run: RunId,
    pub(super) workflow: &'a str,
    pub(super) description: &'a str,
    /// None if it did not reply in time.
    pub(super) answer: Option<FirstAnswer>,
}

impl Told<'_> {
    fn kind(&self) -> Option<AnswerKind> {
        self.answer.as_ref().map(|answer| answer.kind)
    }

    fn outcome(&self) -> &'static str {
        match self.kind() {
            Some(AnswerKind::Answered) => "answered",
            Some(AnswerKind::Rejected) => "rejected",
            Some(AnswerKind::InputRequired) => "input-required",
            Some(AnswerKind::AuthRequired) => "auth-required",
            Some(AnswerKind::Failed) => "failed",
            None => "timeout",
        }
    }

    fn metadata(&self) -> Value {
        metadata(self.workflow, self.description)
    }

    fn parts(&self) -> &[Part] {
        self.answer.as_ref().map(|answer| answer.parts.as_slice()).unwrap_or_default()
    }

    /// One sentence for people.
    fn sentence(&self) -> String {
        let Self { workflow, run, .. } = self;
        let reason = self.reason().map(|reason| format!(": {}", pieces::bounded(reason)));
        let reason = reason.unwrap_or_default();
        let said = match self.kind() {
            Some(AnswerKind::Answered) => "answered",
            Some(AnswerKind::Rejected) => &format!("declined{reason}"),
            Some(AnswerKind::InputRequired) => "has a question",
            Some(AnswerKind::AuthRequired) => "asks for permission",
            Some(AnswerKind::Failed) => &format!("failed{reason}"),
            None => "has been started and has not answered yet",
        };
        format!("{workflow} {said} (task {run}).")
    }

    fn reason(&self) -> Option<&str> {
        self.answer.as_ref()?.reason.as_deref()
    }

    /// The result for the model: the outcome as data, followed by images.
    pub(super) fn record(&self) -> CallRecord {
        let mut result = json!({
            "outcome": self.outcome(),
            "result": pieces::parts_told(self.parts()),
            "taskId": self.run,
            "metadata": self.metadata(),
        });
        if let Some(message) = self.message() {
            result["message"] = message.into();
        }
        if let Some(schema) = self.answer.as_ref().and_then(|answer| answer.schema.as_ref()) {
            put_schema(&mut result, schema);
        }
        let mut record = CallRecord::json(&result);
        record.pieces.extend(pieces::images(self.parts()));
        record
    }

    /// The content of the result's artifact: the parts of the answer unchanged, plus the outcome of the
    /// dispatch. No parts if the answer has none.
    pub(super) fn shown(&self) -> Shown {
        let mut metadata = Object::new();
        metadata.insert("outcome".to_owned(), self.outcome().into());
        metadata.insert("taskId".to_owned(), self.run.to_string().into());
        metadata.insert("referencedWorkflow".to_owned(), self.metadata());
        Shown { parts: self.parts().to_vec(), metadata }
    }

    fn message(&self) -> Option<String> {
        let about = match self.kind() {
            None => "It has not answered yet and goes on in the background.",
            Some(AnswerKind::InputRequired) => {
                "It waits for the user's answer, which has to satisfy the schema."
            }
            Some(AnswerKind::AuthRequired) => {
                "It waits for the user's authorization. Only a person can give it: tell the user what is \
                 asked."
            }
            Some(AnswerKind::Answered) => return None,
            Some(AnswerKind::Rejected | AnswerKind::Failed) => {
                return self.reason().map(pieces::bounded);
            }
        };
        Some(about.to_owned())
    }

    /// The message for the parent's watchers: a sentence, then the parts.
    pub(super) fn update(&self) -> (Vec<Part>, Object) {
        let mut parts = vec![Part::text(self.sentence())];
        parts.extend(self.parts().iter().cloned());
        let mut metadata = Object::new();
        metadata.insert("referencedWorkflow".to_owned(), self.metadata());
        (parts, metadata)
    }
}

fn metadata(workflow: &str, description: &str) -> Value {
    json!({ "workflowName": workflow, "description": description, "pluginId": workflow })
}

/// The result of a dispatch that started no child. It has the form of every dispatch result, without a
/// task.
pub(super) fn not_started(workflow: &str, description: &str, why: &str) -> CallRecord {
    CallRecord::json(&json!({
        "outcome": "failed",
        "result": [],
        "metadata": metadata(workflow, description),
        "message": pieces::bounded(why),
    }))
}

/// The result for the model when the question rejects an answer.
pub(super) fn refused(run: RunId, problems: &[Problem], schema: &Value) -> CallRecord {
    let wrong: Vec<Value> = problems
        .iter()
        .map(|problem| json!({ "path": problem.path, "message": problem.message }))
        .collect();
    let message = "The answer does not satisfy the schema; the question is still open.";
    let mut result = json!({
        "outcome": "input-required",
        "result": [],
        "taskId": run,
        "message": message,
        "errors": wrong,
    });
    put_schema(&mut result, schema);
    CallRecord { failed: true, ..CallRecord::json(&result) }
}

/// The result for the model when only a person may answer the question.
pub(super) fn needs_person(open: &Open) -> CallRecord {
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
    CallRecord { failed: true, ..CallRecord::json(&result) }
}

/// The schema that an answer must satisfy, if it is short enough for a model.
fn put_schema(result: &mut Value, schema: &Value) {
    let bytes = schema.to_string().len();
    if bytes <= pieces::PART_BYTES_MAX {
        result["schema"] = schema.clone();
    } else {
        result["schemaLeftOut"] = format!("{bytes} bytes").into();
    }
}

/// A record as parts, for its artifact. Data that is nested too deeply to be recorded as data becomes
/// the text that the model receives.
pub(super) fn shown(record: &CallRecord) -> Vec<Part> {
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) if !is_too_deep(&value) => {
                Part::data(value)
            }
            _ => Part::text(text),
        },
        Piece::Image { media_type, base64 } => Part::file(trackway_domain::File {
            name: None,
            mime_type: Some(media_type.clone()),
            source: trackway_domain::FileSource::Base64(base64.clone()),
        }),
    };
    record.pieces.iter().map(part).collect()
}

#[cfg(test)]
mod tests;
