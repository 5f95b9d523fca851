//! Why an artifact was not saved, found or read.

use trackway_domain::{ArtifactFilename, ErrorCode, RunId};
use trackway_ports::{ArtifactWriteError, ReadError};

/// An error that a caller can act on; each has a code of the catalogue.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ArtifactError {
    /// There is none, or the caller may not read it: the two are not told apart.
    #[error("there is no artifact {filename}{}", version_suffix(*.version))]
    Unknown { filename: ArtifactFilename, version: Option<u32> },
    /// The run in whose scope the artifact was to be saved does not exist for the caller.
    #[error("there is no run {run}")]
    UnknownRun { run: RunId },
    /// It was to be saved only if there is none of this name.
    #[error("there is an artifact of this name already")]
    Exists,
    #[error("the content has {bytes} bytes; the limit is {max}")]
    TooLarge { bytes: usize, max: usize },
    #[error("{field} is larger than its limit of {max}")]
    FieldTooLarge { field: &'static str, max: usize },
    #[error("{used} of {max} {unit} are used; delete artifacts that are not needed any more")]
    QuotaExceeded { used: u64, max: u64, unit: &'static str },
    /// The content cannot be recovered.
    #[error("the content of {filename} is damaged: {reason}")]
    Damaged { filename: ArtifactFilename, reason: String },
    /// Nothing was done; the same request can succeed later.
    #[error("the store is busy: {reason}")]
    Unavailable { reason: String },
    #[error("the store has failed: {reason}")]
    Store { reason: String },
    #[error("the server is stopping")]
    Stopping,
}

fn version_suffix(version: Option<u32>) -> String {
    version.map(|version| format!(" with version {version}")).unwrap_or_default()
}

impl ArtifactError {
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { .. } => ErrorCode::UnknownArtifact,
            Self::UnknownRun { .. } => ErrorCode::UnknownRun,
            Self::Exists => ErrorCode::InvalidRequest,
            Self::TooLarge { .. } | Self::FieldTooLarge { .. } | Self::QuotaExceeded { .. } => {
                ErrorCode::TooLarge
            }
            Self::Damaged { .. } => ErrorCode::DamagedLog,
            Self::Unavailable { .. } => ErrorCode::StoreBusy,
            Self::Store { .. } => ErrorCode::StoreFailed,
            Self::Stopping => ErrorCode::Stopping,
        }
    }
}

impl From<ArtifactWriteError> for ArtifactError {
    fn from(error: ArtifactWriteError) -> Self {
        match error {
            ArtifactWriteError::QuotaExceeded { used, max, unit } => Self::QuotaExceeded { used, max, unit },
            ArtifactWriteError::Exists => Self::Exists,
            ArtifactWriteError::Unavailable { reason } => Self::Unavailable { reason },
            ArtifactWriteError::Unknown { .. } => Self::Unavailable { reason: error.to_string() },
            ArtifactWriteError::Closed => Self::Stopping,
            ArtifactWriteError::Broken { reason } => Self::Store { reason },
        }
    }
}

impl From<ReadError> for ArtifactError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Unavailable { reason } => Self::Unavailable { reason },
            ReadError::Damaged { .. } | ReadError::DamagedBlob { .. } | ReadError::Broken { .. } => {
                Self::Store { reason: error.to_string() }
            }
        }
    }
}
