//! The transition table, and the one function that moves a run through it.

use trackway_domain::{Event, State, StateName};

use crate::IllegalTransition;

use StateName::{
    AuthRequired, Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Unknown, Working,
};

/// From each state, the states that may follow. Final states have none; nothing enters `Unknown`.
pub const TRANSITIONS: [(StateName, &[StateName]); 9] = [
    (Submitted, &[Working, Failed, Canceled, Rejected]),
    (Working, &[InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected]),
    (InputRequired, &[Working, Canceled, Rejected]),
    (AuthRequired, &[Working, Canceled, Rejected]),
    (Completed, &[]),
    (Failed, &[]),
    (Canceled, &[]),
    (Rejected, &[]),
    (Unknown, &[]),
];

/// The state after `event`: `Some` if it changes, `None` if it stays. An event that is not allowed in
/// this state is illegal and changes nothing.
pub fn transition(state: &State, event: &Event) -> Result<Option<State>, IllegalTransition> {
    let from = state.name();
    let illegal = |to| IllegalTransition { from, to, event: event.event_name() };
    let next = match event {
        // A run begins with this event; it never comes again.
        Event::Submitted(_) => return Err(illegal(Submitted)),
        Event::Started if from == Submitted => State::Working,
        Event::Started => return Err(illegal(Working)),
        Event::Asked { question, .. } => State::interrupted_by_question(question.clone()),
        Event::Resumed { request, .. } if answers_open_question(state, request.question) => State::Working,
        Event::Withdrawn { question } if answers_open_question(state, *question) => State::Working,
        // The previous answer could not be read, so the program could not continue with it.
        Event::Resumed { replaces: true, .. } if from == Working => return Ok(None),
        Event::Resumed { .. } | Event::Withdrawn { .. } => return Err(illegal(Working)),
        Event::Refused { request, .. } if answers_open_question(state, request.question) => {
            return Ok(None);
        }
        Event::Refused { .. } => return Err(illegal(from)),
        Event::Completed { output, .. } => State::Completed { output: output.clone() },
        Event::Failed { failure, .. } => State::Failed { failure: failure.clone() },
        Event::Canceled => State::Canceled,
        Event::Rejected { reason, .. } => State::Rejected { reason: reason.clone() },
        // A late answer is recorded even if the run has ended meanwhile.
        Event::LateAnswer(_) => return Ok(None),
        // A guided run completes once; an agent that goes back then adds another branch.
        Event::Guided(_) if from != Submitted => return Ok(None),
        // An outside agent can continue a completed run, so such a run must be adopted too.
        Event::Imported | Event::Adopted if !from.is_terminal() || from == Completed => {
            return Ok(None);
        }
        Event::Noted { .. }
        | Event::Parked { .. }
        | Event::Unparked
        | Event::ChildEnded { .. }
        | Event::RunAnswered { .. }
            if !from.is_terminal() =>
        {
            return Ok(None);
        }
        // A program's operations are recorded between its start and its end, also while a question is
        // open.
        Event::Status { .. }
        | Event::Artifact { .. }
        | Event::StepDone { .. }
        | Event::StepAttemptFailed(_)
        | Event::StepNoted { .. }
        | Event::ValueRecorded { .. }
        | Event::Slept { .. }
        | Event::Woke { .. }
        | Event::ChildStarted { .. }
        | Event::ChildWaits { .. }
        | Event::ChildResumed { .. }
        | Event::Answered { .. }
            if !from.is_terminal() && from != Submitted =>
        {
            return Ok(None);
        }
        Event::Noted { .. }
        | Event::Parked { .. }
        | Event::Unparked
        | Event::Imported
        | Event::Adopted
        | Event::ChildWaits { .. }
        | Event::ChildResumed { .. }
        | Event::ChildEnded { .. }
        | Event::RunAnswered { .. }
        | Event::Answered { .. }
        | Event::Status { .. }
        | Event::Artifact { .. }
        | Event::StepDone { .. }
        | Event::StepAttemptFailed(_)
        | Event::StepNoted { .. }
        | Event::ValueRecorded { .. }
        | Event::Slept { .. }
        | Event::Woke { .. }
        | Event::ChildStarted { .. }
        | Event::Guided(_) => return Err(illegal(from)),
    };
    let to = next.name();
    if is_legal_state_change(from, to) { Ok(Some(next)) } else { Err(illegal(to)) }
}

fn answers_open_question(state: &State, question: trackway_domain::QuestionId) -> bool {
    state.open_question().is_some_and(|open| open.id == question)
}

fn is_legal_state_change(from: StateName, to: StateName) -> bool {
    TRANSITIONS.iter().any(|(state, next)| *state == from && next.contains(&to))
}

#[cfg(test)]
mod tests;
