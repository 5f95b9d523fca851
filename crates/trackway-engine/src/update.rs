//! What watchers of a run see of each event. Streams and snapshots are both built from this, so that
//! they cannot disagree.

use serde_json::Value;
use trackway_domain::{ArtifactChunk, Event, Evidence, Message, Resume, StateName};

use crate::prompt;

/// The visible side of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// The run exists.
    Submitted,
    Status(StatusUpdate),
    Artifact(ArtifactChunk),
}

#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    pub state: StateName,
    pub message: Option<Message>,
    /// No update follows.
    pub last: bool,
    /// The run waits for an answer from here on.
    pub interrupts: bool,
    /// For the `working` of a resume: which request it was.
    pub resume: Option<ResumeMark>,
    /// For `completed`: the workflow's output, or null.
    pub output: Value,
    /// Why the run is parked.
    pub parked: Option<Evidence>,
}

impl StatusUpdate {
    /// Whether the update is published while a question is open and is not that question. The question
    /// then stays the status of the run.
    pub fn is_beside_a_question(&self) -> bool {
        self.state.is_interrupted() && !self.interrupts
    }
}

/// The order of a request among the requests to its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeMark {
    pub order: u32,
    pub concurrent: bool,
    pub primary: bool,
}

/// The update for an event, if the event is visible.
pub fn update(event: &Event) -> Option<Update> {
    let status = match event {
        Event::Submitted(_) => return Some(Update::Submitted),
        Event::Artifact { chunk, .. } => return Some(Update::Artifact(chunk.clone())),
        Event::Started | Event::Withdrawn { .. } => status(StateName::Working, None),
        // The event changes no state and has no content: a second bare `working` would be a repetition.
        Event::Status { message, .. } if message.parts.is_empty() => return None,
        Event::Status { state, message, .. }
        | Event::ChildStarted { state, message: Some(message), .. } => {
            status(*state, Some(message.clone()))
        }
        Event::Asked { question, message_id, .. } => {
            let message = prompt::question(message_id, question, &[]);
            interrupts(status(reason(question), Some(message)))
        }
        Event::Refused { question, problems, message_id, .. } => {
            let message = prompt::question(message_id, question, problems);
            interrupts(status(reason(question), Some(message)))
        }
        Event::Resumed { resume, .. } => {
            let mark = Some(ResumeMark::primary(resume));
            StatusUpdate { resume: mark, ..status(StateName::Working, None) }
        }
        Event::Parked { evidence, state, message_id } => {
            let message =
                prompt::text(message_id, &format!("The run is parked: {}", evidence.message));
            StatusUpdate { parked: Some(evidence.clone()), ..status(*state, Some(message)) }
        }
        Event::Completed { output, message_id } => {
            let text = message_id.as_ref().zip(output.as_str());
            let message = text.map(|(id, text)| prompt::text(id, text));
            StatusUpdate { output: output.clone(), ..last(status(StateName::Completed, message)) }
        }
        Event::ChildWaits { waits, state, message_id, .. } => {
            status(*state, Some(prompt::waiting(message_id, waits)))
        }
        Event::Failed { failure, message_id } => {
            last(status(StateName::Failed, Some(prompt::text(message_id, &failure.message))))
        }
        Event::Rejected { reason, message_id } => {
            last(status(StateName::Rejected, Some(prompt::text(message_id, reason))))
        }
        Event::Canceled => last(status(StateName::Canceled, None)),
        Event::Late(_)
        | Event::Noted { .. }
        | Event::StepDone { .. }
        | Event::StepFailed(_)
        | Event::Drawn { .. }
        | Event::Guided(_)
        | Event::Slept { .. }
        | Event::Woke { .. }
        | Event::ChildStarted { message: None, .. }
        | Event::ChildEnded { .. }
        | Event::ChildGoesOn { .. }
        | Event::Imported
        | Event::Adopted
        | Event::RunAnswered { .. }
        | Event::Answered { .. }
        | Event::Unparked => return None,
    };
    Some(Update::Status(status))
}

/// Whether an event has an update, without building it.
pub const fn shows(event: &Event) -> bool {
    if let Event::Status { message, .. } = event {
        return !message.parts.is_empty();
    }
    !matches!(
        event,
        Event::Late(_)
            | Event::Noted { .. }
            | Event::StepDone { .. }
            | Event::StepFailed(_)
            | Event::Drawn { .. }
            | Event::Guided(_)
            | Event::Slept { .. }
            | Event::Woke { .. }
            | Event::ChildStarted { message: None, .. }
            | Event::ChildEnded { .. }
            | Event::ChildGoesOn { .. }
            | Event::Imported
            | Event::Adopted
            | Event::RunAnswered { .. }
            | Event::Answered { .. }
            | Event::Unparked
    )
}

impl ResumeMark {
    fn primary(resume: &Resume) -> Self {
        Self { order: resume.order, concurrent: resume.concurrent, primary: true }
    }
}

fn status(state: StateName, message: Option<Message>) -> StatusUpdate {
    StatusUpdate {
        state,
        message,
        last: false,
        interrupts: false,
        resume: None,
        output: Value::Null,
        parked: None,
    }
}

fn last(status: StatusUpdate) -> StatusUpdate {
    StatusUpdate { last: true, ..status }
}

fn interrupts(status: StatusUpdate) -> StatusUpdate {
    StatusUpdate { interrupts: true, ..status }
}

fn reason(question: &trackway_domain::Question) -> StateName {
    match question.reason {
        trackway_domain::Reason::InputRequired => StateName::InputRequired,
        trackway_domain::Reason::AuthRequired => StateName::AuthRequired,
    }
}

#[cfg(test)]
mod tests;
