//! Refused requests about artifacts, as problems.

use axum::http::StatusCode;
use trackway_artifacts::{ArtifactError, SignedReferenceError};
use trackway_http::HttpError;

/// Why an artifact was not stored, found or read.
pub(super) fn artifact_http_error(error: ArtifactError) -> HttpError {
    let (code, detail) = (error.code(), error.to_string());
    match error {
        ArtifactError::Unknown { .. } => HttpError::new(code, detail)
            .with_hint("GET /api/artifacts lists yours; one of a session needs ?session=ID"),
        ArtifactError::UnknownRun { .. }
        | ArtifactError::TooLarge { .. }
        | ArtifactError::FieldTooLarge { .. }
        | ArtifactError::Stopping => HttpError::new(code, detail),
        ArtifactError::Exists => HttpError::new(code, detail)
            .with_status(StatusCode::PRECONDITION_FAILED)
            .with_hint("without If-None-Match this would be its next version"),
        ArtifactError::QuotaExceeded { .. } => {
            HttpError::new(code, detail).with_status(StatusCode::INSUFFICIENT_STORAGE)
        }
        // The internal cause is only for the operator.
        ArtifactError::Damaged { filename, reason } => {
            tracing::error!(%filename, reason, "the content of an artifact is damaged");
            HttpError::new(code, format!("the content of {filename} is damaged"))
                .with_hint("see the server's log")
        }
        ArtifactError::Unavailable { reason } => {
            tracing::warn!(reason, "the store is busy");
            HttpError::new(code, "the store is busy").with_hint("send the same request again")
        }
        ArtifactError::Store { reason } => {
            tracing::error!(reason, "the store has failed");
            HttpError::new(code, "the store has failed").with_hint("see the server's log, and start it again")
        }
    }
}

/// Why a reference is not accepted.
pub(super) fn reference_http_error(error: SignedReferenceError) -> HttpError {
    let hint = match error {
        SignedReferenceError::Malformed | SignedReferenceError::Changed => "send the address unchanged",
        SignedReferenceError::Foreign => "send it to the server that made it",
        SignedReferenceError::Expired => "ask whoever sent it for a new one",
    };
    HttpError::new(error.code(), error.to_string()).with_hint(hint)
}
