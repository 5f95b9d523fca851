//! Messages that the engine makes from recorded facts: questions, repeated questions, reasons.

use serde_json::{Value, json};
use trackway_domain::{Message, MessageId, MessageRole, Part, Question, ValidationError, WaitingRun};

/// The message that asks a question. The schema is in the metadata of the first part, where clients
/// look for it. Every part of the workflow is kept. A repeated question ends with the reason.
pub(crate) fn question_message(id: &MessageId, question: &Question, problems: &[ValidationError]) -> Message {
    let mut parts = question.prompt.clone();
    if parts.is_empty() {
        parts.push(Part::text(""));
    }
    let first = &mut parts[0].metadata;
    first.insert("schema".into(), question.schema.clone());
    first.insert("mimeType".into(), Value::from("application/json"));
    let mut message = Message::new(id.clone(), MessageRole::Agent, Vec::new());
    message.metadata.insert("questionId".into(), json!(question.id));
    if !problems.is_empty() {
        message.metadata.insert("validationErrors".into(), json!(problems));
        parts.push(Part::text(answer_refusal_text(problems)));
    }
    message.parts = parts;
    message
}

/// Why an answer was refused, in words: many clients show only the text.
fn answer_refusal_text(problems: &[ValidationError]) -> String {
    let mut text = "The answer was not accepted:".to_owned();
    for problem in problems {
        text.push_str("\n- ");
        text.push_str(&problem.format_validation_error());
    }
    text
}

/// The message that names a run below this one that waits for a person.
pub(crate) fn waiting_run_message(id: &MessageId, waiting_run: &WaitingRun) -> Message {
    let WaitingRun { run, workflow, state, text } = waiting_run;
    let mut message =
        self::agent_text_message(id, &format!("{workflow} ({run}) waits for an answer: {text}"));
    message.references.push(run.to_string());
    let about = json!({ "taskId": run, "workflowName": workflow, "state": state });
    message.metadata.insert("waitingTask".into(), about);
    message
}

/// A message of one text.
pub(crate) fn agent_text_message(id: &MessageId, text: &str) -> Message {
    Message::new(id.clone(), MessageRole::Agent, vec![Part::text(text)])
}
