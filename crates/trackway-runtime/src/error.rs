//! The errors of the runtime.

use serde_json::Value;
use trackway_domain::{
    ErrorCode, MessageId, QuestionId, ReplayMismatch, RunId, SessionId, StateName, ValidationError,
};
use trackway_engine::CommandRefusal;
use trackway_ports::{AppendError, ReadError};

use crate::ForkRefusal;

/// An error that a caller can act on; each has a code of the catalogue.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error("the input does not satisfy the workflow's schema")]
    InvalidInput { problems: Vec<ValidationError>, schema: Value },
    #[error("there is no workflow named {name:?}{}", workflow_unavailable_suffix(.why.as_deref()))]
    UnknownWorkflow {
        name: String,
        known: Vec<String>,
        /// There is one, but the engine cannot run it.
        why: Option<String>,
    },
    #[error("there is no run {run}")]
    UnknownRun { run: String },
    #[error("{run} does not belong to session {session}")]
    SessionMismatch { run: RunId, session: SessionId },
    #[error("{run} has ended ({state})")]
    Ended { run: RunId, state: StateName },
    #[error("{run} never asked question {question}")]
    UnknownQuestion { run: RunId, question: QuestionId },
    #[error("{run} was imported and is not adopted; adopt it with `trackway runs adopt {run}`")]
    NotAdopted { run: RunId },
    #[error("{run} cannot go on here: {}", .evidence.message)]
    CannotAdopt { run: RunId, evidence: ReplayMismatch },
    #[error("message id {message} was used before for another message (to {run})")]
    MessageReused { message: MessageId, run: RunId },
    #[error("the hook cannot be set: {reason}")]
    HookRefused { reason: String },
    #[error("{run} cannot be forked: {why}")]
    CannotFork { run: RunId, why: ForkRefusal },
    #[error("the log of {run} is damaged: {reason}")]
    Damaged { run: RunId, reason: String },
    /// Nothing was done; the same request can succeed later.
    #[error("the store is busy: {reason}")]
    Unavailable { reason: String },
    #[error("the store has failed: {reason}")]
    Store { reason: String },
    /// A defect: no request should lead to it.
    #[error("something went wrong inside: {reason}")]
    Internal { reason: String },
    #[error("the server is stopping")]
    Stopping,
}

fn workflow_unavailable_suffix(why: Option<&str>) -> String {
    why.map(|why| format!(" that the engine can run: {why}")).unwrap_or_default()
}

impl Error {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidInput { .. } => ErrorCode::InvalidInput,
            Self::UnknownWorkflow { .. } => ErrorCode::UnknownWorkflow,
            Self::UnknownRun { .. } => ErrorCode::UnknownRun,
            Self::SessionMismatch { .. } => ErrorCode::SessionMismatch,
            Self::Ended { .. } => ErrorCode::RunEnded,
            Self::UnknownQuestion { .. } | Self::HookRefused { .. } | Self::CannotFork { .. } => {
                ErrorCode::InvalidRequest
            }
            Self::NotAdopted { .. } => ErrorCode::NotAdopted,
            Self::CannotAdopt { .. } => ErrorCode::ReplayMismatch,
            Self::MessageReused { .. } => ErrorCode::MessageReused,
            Self::Damaged { .. } => ErrorCode::DamagedLog,
            Self::Unavailable { .. } => ErrorCode::StoreBusy,
            Self::Store { .. } => ErrorCode::StoreFailed,
            Self::Internal { .. } => ErrorCode::Internal,
            Self::Stopping => ErrorCode::Stopping,
        }
    }

    pub(crate) fn from_refusal(run: RunId, refusal: &CommandRefusal) -> Self {
        match refusal {
            CommandRefusal::Ended { state } => Self::Ended { run, state: *state },
            CommandRefusal::UnknownQuestion(question) => Self::UnknownQuestion { run, question: *question },
            CommandRefusal::NotAdopted => Self::NotAdopted { run },
            // The command path never sends these; if it does, the run stays as it was.
            CommandRefusal::ProgramNotIdle
            | CommandRefusal::NotSubmitted
            | CommandRefusal::AlreadySubmitted
            | CommandRefusal::TooManyAttempts(_)
            | CommandRefusal::StepNote(_)
            | CommandRefusal::Illegal(_) => Self::Internal { reason: refusal.to_string() },
        }
    }

    pub(crate) fn from_append_error(error: &AppendError) -> Self {
        match error {
            AppendError::Unavailable { reason } => Self::Unavailable { reason: reason.clone() },
            AppendError::Unknown { .. } => Self::Unavailable { reason: error.to_string() },
            AppendError::Closed => Self::Stopping,
            AppendError::Broken { .. } => Self::Store { reason: error.to_string() },
            AppendError::Conflict { .. } | AppendError::Fenced { .. } | AppendError::Claimed(_) => {
                Self::Internal { reason: error.to_string() }
            }
        }
    }

    /// The same may succeed later.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Damaged { run, seq, reason } => {
                Self::Damaged { run, reason: format!("event {seq}: {reason}") }
            }
            ReadError::Unavailable { reason } => Self::Unavailable { reason },
            ReadError::DamagedBlob { .. } | ReadError::Broken { .. } => {
                Self::Store { reason: error.to_string() }
            }
        }
    }
}
