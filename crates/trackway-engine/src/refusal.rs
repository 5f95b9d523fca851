//! Why a command changes nothing.

use trackway_domain::{BlockReason, QuestionId, StateName, StepNoteRefusal};

/// A command that the run does not accept in its current state. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandRefusal {
    #[error("the run has ended ({state})")]
    Ended { state: StateName },
    #[error("this run never asked question {0}")]
    UnknownQuestion(QuestionId),
    #[error("the program has not processed the whole log yet")]
    ProgramNotIdle,
    #[error("the run was imported and is not adopted yet")]
    NotAdopted,
    #[error("the run does not exist yet")]
    NotSubmitted,
    #[error("the run exists already")]
    AlreadySubmitted,
    /// No more invalid answers are recorded for this node; valid ones still are.
    #[error("too many answers to this step did not fit: {}", .0.message)]
    TooManyAttempts(Box<BlockReason>),
    #[error(transparent)]
    StepNote(#[from] StepNoteRefusal),
    #[error(transparent)]
    Illegal(#[from] IllegalTransition),
}

/// A transition that the table does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run that is {from} cannot become {to} (event: {event})")]
pub struct IllegalTransition {
    pub from: StateName,
    pub to: StateName,
    pub event: &'static str,
}
