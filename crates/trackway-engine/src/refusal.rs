//! Why a command changes nothing.

use trackway_domain::{Block, QuestionId, StateName};

/// A command that the run, as it stands, does not take. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("the run has ended ({state})")]
    Ended { state: StateName },
    #[error("this run never asked question {0}")]
    UnknownQuestion(QuestionId),
    #[error("the program has not seen everything yet that was recorded before")]
    NotSettled,
    #[error("the run was imported, and nobody has adopted it")]
    NotAdopted,
    #[error("the run does not exist yet")]
    NotSubmitted,
    #[error("the run exists already")]
    AlreadySubmitted,
    /// Nothing more that does not fit is recorded at this node; what fits still is.
    #[error("too many answers to this step did not fit: {}", .0.message)]
    TooManyAttempts(Box<Block>),
    #[error(transparent)]
    Illegal(#[from] IllegalTransition),
}

/// A transition that the table does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run that is {from} cannot become {to} (event: {event})")]
pub struct IllegalTransition {
    pub from: StateName,
    pub to: StateName,
    pub event: &'static str,
}
