//! Why an operation on a session failed.

use trackway_domain::{ErrorCode, RunId, SessionId};
use trackway_ports::{AppendError, ReadError};

use super::BundleError;

#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    #[error("there is no session {id}")]
    UnknownSession {
        id: SessionId,
        /// Some existing ids, for a hint.
        known: Vec<String>,
    },
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A bundle contains complete logs only.
    #[error("{run} cannot be exported: {reason}")]
    Damaged { run: RunId, reason: String },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl SessionsError {
    /// The stable code of the error; it names the page that explains it.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownSession { .. } => ErrorCode::UnknownSession,
            Self::Bundle(_) => ErrorCode::BadBundle,
            Self::Damaged { .. } | Self::Read(ReadError::Damaged { .. } | ReadError::DamagedBlob { .. }) => {
                ErrorCode::DamagedLog
            }
            Self::Read(ReadError::Unavailable { .. }) | Self::Append(AppendError::Unavailable { .. }) => {
                ErrorCode::StoreBusy
            }
            Self::Append(AppendError::Closed) => ErrorCode::Stopping,
            Self::Read(ReadError::Broken { .. }) | Self::Append(_) => ErrorCode::StoreFailed,
        }
    }
}
