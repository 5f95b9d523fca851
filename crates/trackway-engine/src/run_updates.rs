//! What watchers of a run see of each event. Streams and snapshots are both built from this, so that
//! they cannot disagree.

use serde_json::Value;
use trackway_domain::{AnswerRequest, ArtifactChunk, Event, Message, ReplayMismatch, StateName};

use crate::agent_messages;

/// The visible side of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum VisibleUpdate {
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
    pub resume: Option<AnswerRequestRank>,
    /// For `completed`: the workflow's output, or null.
    pub output: Value,
    /// Why the run is parked.
    pub parked: Option<ReplayMismatch>,
}

impl StatusUpdate {
    /// Whether the update is published while a question is open and is not that question. The question
    /// then stays the status of the run.
    pub fn is_published_during_open_question(&self) -> bool {
        self.state.is_interrupted() && !self.interrupts
    }
}

/// The order of a request among the requests to its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerRequestRank {
    pub order: u32,
    pub concurrent: bool,
    pub primary: bool,
}

/// The update for an event, if the event is visible.
pub fn visible_update(event: &Event) -> Option<VisibleUpdate> {
    let status = match event {
        Event::Submitted(_) => return Some(VisibleUpdate::Submitted),
        Event::Artifact { chunk, .. } => return Some(VisibleUpdate::Artifact(chunk.clone())),
        Event::Started | Event::Withdrawn { .. } => status_update(StateName::Working, None),
        // The event changes no state and has no content: a second bare `working` would be a repetition.
        Event::Status { message, .. } if message.parts.is_empty() => return None,
        Event::Status { state, message, .. } | Event::ChildStarted { state, message: Some(message), .. } => {
            status_update(*state, Some(message.clone()))
        }
        Event::Asked { question, message_id, .. } => {
            let message = agent_messages::question_message(message_id, question, &[]);
            mark_as_interrupting(status_update(interrupted_state(question), Some(message)))
        }
        Event::Refused { question, problems, message_id, .. } => {
            let message = agent_messages::question_message(message_id, question, problems);
            mark_as_interrupting(status_update(interrupted_state(question), Some(message)))
        }
        Event::Resumed { request, .. } => {
            let mark = Some(AnswerRequestRank::primary_rank_from_request(request));
            StatusUpdate { resume: mark, ..status_update(StateName::Working, None) }
        }
        Event::Parked { evidence, state, message_id } => {
            let message = agent_messages::agent_text_message(
                message_id,
                &format!("The run is parked: {}", evidence.message),
            );
            StatusUpdate { parked: Some(evidence.clone()), ..status_update(*state, Some(message)) }
        }
        Event::Completed { output, message_id } => {
            let text = message_id.as_ref().zip(output.as_str());
            let message = text.map(|(id, text)| agent_messages::agent_text_message(id, text));
            StatusUpdate {
                output: output.clone(),
                ..mark_as_last_update(status_update(StateName::Completed, message))
            }
        }
        Event::ChildWaits { waiting, state, message_id, .. } => {
            status_update(*state, Some(agent_messages::waiting_run_message(message_id, waiting)))
        }
        Event::Failed { failure, message_id } => mark_as_last_update(status_update(
            StateName::Failed,
            Some(agent_messages::agent_text_message(message_id, &failure.message)),
        )),
        Event::Rejected { reason, message_id } => mark_as_last_update(status_update(
            StateName::Rejected,
            Some(agent_messages::agent_text_message(message_id, reason)),
        )),
        Event::Canceled => mark_as_last_update(status_update(StateName::Canceled, None)),
        Event::LateAnswer(_)
        | Event::Noted { .. }
        | Event::StepDone { .. }
        | Event::StepAttemptFailed(_)
        | Event::StepNoted { .. }
        | Event::ValueRecorded { .. }
        | Event::Guided(_)
        | Event::Slept { .. }
        | Event::Woke { .. }
        | Event::ChildStarted { message: None, .. }
        | Event::ChildEnded { .. }
        | Event::ChildResumed { .. }
        | Event::Imported
        | Event::Adopted
        | Event::RunAnswered { .. }
        | Event::Answered { .. }
        | Event::Unparked => return None,
    };
    Some(VisibleUpdate::Status(status))
}

/// Whether an event has an update, without building it.
pub const fn is_visible(event: &Event) -> bool {
    if let Event::Status { message, .. } = event {
        return !message.parts.is_empty();
    }
    !matches!(
        event,
        Event::LateAnswer(_)
            | Event::Noted { .. }
            | Event::StepDone { .. }
            | Event::StepAttemptFailed(_)
            | Event::StepNoted { .. }
            | Event::ValueRecorded { .. }
            | Event::Guided(_)
            | Event::Slept { .. }
            | Event::Woke { .. }
            | Event::ChildStarted { message: None, .. }
            | Event::ChildEnded { .. }
            | Event::ChildResumed { .. }
            | Event::Imported
            | Event::Adopted
            | Event::RunAnswered { .. }
            | Event::Answered { .. }
            | Event::Unparked
    )
}

impl AnswerRequestRank {
    fn primary_rank_from_request(request: &AnswerRequest) -> Self {
        Self { order: request.order, concurrent: request.concurrent, primary: true }
    }
}

fn status_update(state: StateName, message: Option<Message>) -> StatusUpdate {
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

fn mark_as_last_update(status: StatusUpdate) -> StatusUpdate {
    StatusUpdate { last: true, ..status }
}

fn mark_as_interrupting(status: StatusUpdate) -> StatusUpdate {
    StatusUpdate { interrupts: true, ..status }
}

fn interrupted_state(question: &trackway_domain::Question) -> StateName {
    match question.reason {
        trackway_domain::InterruptReason::InputRequired => StateName::InputRequired,
        trackway_domain::InterruptReason::AuthRequired => StateName::AuthRequired,
    }
}

#[cfg(test)]
mod tests;
