//! What came of a dispatch, as the model is told and as the parent's watchers are (D3, D5).

use serde_json::{Map, Value, json};
use trackway_domain::{AnswerKind, FirstAnswer, Object, Part, Problem, RunId, is_too_deep};

use super::begin::Open;
use crate::{CallRecord, Piece, pieces};

/// What the artifact of a result shows beside what every one does.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// In place of what the model is told, where there are any.
    pub(super) parts: Vec<Part>,
    pub(super) metadata: Object,
}

/// A workflow that was dispatched, or answered, and what it said.
pub(super) struct Told<'a> {
    pub(super) run: RunId,
    pub(super) workflow: &'a str,
    pub(super) description: &'a str,
    /// None where it has not said anything in time.
    pub(super) answer: Option<FirstAnswer>,
}

impl Told<'_> {
    fn outcome(&self) -> &'static str {
        match self.answer.as_ref().map(|answer| answer.kind) {
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

    /// In a sentence, for people.
    fn sentence(&self) -> String {
        let Self { workflow, run, .. } = self;
        let reason = self.reason().map(|reason| format!(": {}", pieces::bounded(reason)));
        let reason = reason.unwrap_or_default();
        match self.outcome() {
            "answered" => format!("{workflow} answered (task {run})."),
            "rejected" => format!("{workflow} declined{reason} (task {run})."),
            "input-required" => format!("{workflow} has a question (task {run})."),
            "auth-required" => format!("{workflow} asks for permission (task {run})."),
            "failed" => format!("{workflow} failed{reason} (task {run})."),
            _ => format!("{workflow} has been started and has not answered yet (task {run})."),
        }
    }

    fn reason(&self) -> Option<&str> {
        self.answer.as_ref()?.reason.as_deref()
    }

    /// What the model is told: the outcome as data, and images beside it.
    pub(super) fn record(&self) -> CallRecord {
        let mut result = Map::new();
        result.insert("outcome".to_owned(), self.outcome().into());
        result.insert("result".to_owned(), pieces::parts_told(self.parts()));
        result.insert("taskId".to_owned(), self.run.to_string().into());
        result.insert("metadata".to_owned(), self.metadata());
        if let Some(message) = self.message() {
            result.insert("message".to_owned(), message.into());
        }
        if let Some(schema) = self.answer.as_ref().and_then(|answer| answer.schema.as_ref()) {
            put_schema(&mut result, schema);
        }
        let mut record = CallRecord::json(&Value::Object(result));
        record.pieces.extend(pieces::images(self.parts()));
        record
    }

    /// What the artifact of the call's result shows: the parts of the answer as they are, and what came of
    /// the dispatch beside them. No parts where it has none.
    pub(super) fn shown(&self) -> Shown {
        let mut metadata = Object::new();
        metadata.insert("outcome".to_owned(), self.outcome().into());
        metadata.insert("taskId".to_owned(), self.run.to_string().into());
        metadata.insert("referencedWorkflow".to_owned(), self.metadata());
        Shown { parts: self.parts().to_vec(), metadata }
    }

    fn message(&self) -> Option<String> {
        match self.outcome() {
            "answered" => None,
            "timeout" => Some("It has not answered yet and goes on in the background.".to_owned()),
            "input-required" => {
                Some("It waits for the user's answer, which has to satisfy the schema.".to_owned())
            }
            "auth-required" => Some(
                "It waits for the user's authorization. Only a person can give it: tell the user what is \
                 asked."
                    .to_owned(),
            ),
            _ => self.reason().map(pieces::bounded),
        }
    }

    /// What the parent's watchers are told: a sentence, then the parts.
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

/// What the model is told of a dispatch that made no child: in the form of every dispatch, without a task.
pub(super) fn not_started(workflow: &str, description: &str, why: &str) -> CallRecord {
    CallRecord::json(&json!({
        "outcome": "failed",
        "result": [],
        "metadata": metadata(workflow, description),
        "message": pieces::bounded(why),
    }))
}

/// What the model is told of an answer that the question did not take.
pub(super) fn refused(run: RunId, problems: &[Problem], schema: &Value) -> CallRecord {
    let wrong: Vec<Value> = problems
        .iter()
        .map(|problem| json!({ "path": problem.path, "message": problem.message }))
        .collect();
    let message = "The answer does not satisfy the schema; the question is still open.";
    let mut result = Map::new();
    result.insert("outcome".to_owned(), "input-required".into());
    result.insert("result".to_owned(), json!([]));
    result.insert("taskId".to_owned(), json!(run));
    result.insert("message".to_owned(), message.into());
    result.insert("errors".to_owned(), wrong.into());
    put_schema(&mut result, schema);
    CallRecord { failed: true, ..CallRecord::json(&result.into()) }
}

/// What the model is told of a question that only a person answers.
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

/// What an answer has to satisfy, where a model can read that much.
fn put_schema(result: &mut Map<String, Value>, schema: &Value) {
    let bytes = schema.to_string().len();
    if bytes <= pieces::PART_BYTES_MAX {
        result.insert("schema".to_owned(), schema.clone());
    } else {
        result.insert("schemaLeftOut".to_owned(), format!("{bytes} bytes").into());
    }
}

/// A record as parts, for the artifact that shows it. Data that is nested too deeply to be recorded as
/// data is shown as the text that the model is told.
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
