//! The first answer: what a waiting run receives, built from the events that the other run recorded.

use serde_json::Value;
use trackway_domain::{ChildFirstAnswer, ChildFirstAnswerKind, Event, InterruptReason, Part};

/// Whether an event counts as an answer to a run that waits.
pub(crate) const fn counts_as_first_answer(event: &Event) -> bool {
    matches!(
        event,
        Event::Status { .. }
            | Event::Artifact { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::Completed { .. }
            | Event::Failed { .. }
            | Event::Canceled
            | Event::Rejected { .. }
    )
}

/// The answer in the events of one decision, if there is one. An artifact that comes with a question
/// belongs to the question.
pub(crate) fn first_answer_in_events(events: &[Event]) -> Option<ChildFirstAnswer> {
    let said: Vec<&Event> = events.iter().filter(|event| counts_as_first_answer(event)).collect();
    let mut parts = Vec::new();
    for event in said.iter().copied() {
        match event {
            Event::Status { message, .. } => parts.extend(message.parts.iter().cloned()),
            Event::Artifact { chunk, .. } => parts.extend(chunk.artifact.parts.iter().cloned()),
            Event::Answered { parts: given, .. } => parts.extend(given.iter().cloned()),
            Event::Asked { question, .. } => {
                parts.extend(question.prompt.iter().cloned());
                let kind = match question.reason {
                    InterruptReason::InputRequired => ChildFirstAnswerKind::InputRequired,
                    InterruptReason::AuthRequired => ChildFirstAnswerKind::AuthRequired,
                };
                let schema = Some(question.schema.clone());
                return Some(ChildFirstAnswer { kind, parts, schema, reason: None });
            }
            Event::Completed { output, .. } => parts.extend(part_from_output(output)),
            Event::Failed { failure, .. } => {
                return Some(ChildFirstAnswer::from_failure(ChildFirstAnswerKind::Failed, &failure.message));
            }
            Event::Canceled => {
                return Some(ChildFirstAnswer::from_failure(
                    ChildFirstAnswerKind::Failed,
                    "it was cancelled",
                ));
            }
            Event::Rejected { reason, .. } => {
                return Some(ChildFirstAnswer::from_failure(ChildFirstAnswerKind::Rejected, reason));
            }
            _ => {}
        }
    }
    (!said.is_empty()).then(|| ChildFirstAnswer::answered_with_parts(parts))
}

/// An output as parts: nothing, text, or data.
fn part_from_output(output: &Value) -> Option<Part> {
    match output {
        Value::Null => None,
        Value::String(text) => Some(Part::text(text)),
        other => Some(Part::data(other.clone())),
    }
}
