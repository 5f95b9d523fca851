//! When a run's current status was published, folded without the status itself. The index of runs is
//! ordered by it, and must agree with [`RunView`](crate::RunView).

use trackway_domain::{Event, Timestamp};

/// The time of the current status. Folding is cheap: nothing of an event is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusTime {
    pub at: Timestamp,
    /// The time of the status that parking replaced; unparking restores it.
    pub(crate) covered: Option<Timestamp>,
}

impl StatusTime {
    /// For a run that was submitted at that moment.
    pub const fn from_submission_time(at: Timestamp) -> Self {
        Self { at, covered: None }
    }

    /// Folds the next event, recorded at `at`.
    pub fn apply_event(&mut self, event: &Event, recorded_at: Timestamp) {
        match event {
            // A status while a question is open does not replace the question, and a status without a
            // message is not published.
            Event::Status { state, .. }
            | Event::ChildStarted { state, .. }
            | Event::ChildWaits { state, .. }
            | Event::Parked { state, .. }
                if state.is_interrupted() => {}
            Event::Status { message, .. } if message.parts.is_empty() => {}
            Event::Parked { .. } => {
                self.covered.get_or_insert(self.at);
                self.at = recorded_at;
            }
            // Every guided event changes the status of a guided run.
            Event::Guided(_) => self.at = recorded_at,
            Event::Unparked => self.at = self.covered.take().unwrap_or(self.at),
            Event::Started
            | Event::Status { .. }
            | Event::Asked { .. }
            | Event::Refused { .. }
            | Event::Resumed { .. }
            | Event::Withdrawn { .. }
            | Event::ChildStarted { message: Some(_), .. }
            | Event::ChildWaits { .. }
            | Event::Completed { .. }
            | Event::Failed { .. }
            | Event::Canceled
            | Event::Rejected { .. } => *self = Self::from_submission_time(recorded_at),
            Event::Submitted(_)
            | Event::Artifact { .. }
            | Event::LateAnswer(_)
            | Event::Noted { .. }
            | Event::StepDone { .. }
            | Event::StepAttemptFailed(_)
            | Event::StepNoted { .. }
            | Event::ValueRecorded { .. }
            | Event::Slept { .. }
            | Event::Woke { .. }
            | Event::ChildStarted { message: None, .. }
            | Event::ChildEnded { .. }
            | Event::ChildResumed { .. }
            | Event::Imported
            | Event::Adopted
            | Event::RunAnswered { .. }
            | Event::Answered { .. } => {}
        }
    }
}
