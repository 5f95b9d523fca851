//! Options that requests of every generation and binding share, checked once.

use axum::http::HeaderMap;
use trackway_domain::{ErrorCode, Position};

use crate::{
    error::{A2aError, A2aErrorKind},
    media_type,
    operations::HistoryLength,
};

/// Limit (A2A): messages of a task's history in one answer.
///
/// Newest messages of the history that are returned if the client names no number. This is enough for
/// any conversation that a person reads, and a limit for runs that send messages for days.
/// Limit (A2A): newest messages of a task's history if the client names no number.
pub(crate) const HISTORY_MESSAGES_MAX: usize = 1_000;

/// How much history to return.
pub(crate) fn history_length_or_default(length: Option<i64>, path: &str) -> Result<HistoryLength, A2aError> {
    match length {
        None => Ok(HISTORY_MESSAGES_MAX),
        Some(length) => usize::try_from(length).map_err(|_| {
            let why = format!("{path}: {length} is not a number of messages");
            A2aError::invalid_param_error(path, why, "send 0 for none, a positive number, or leave it out")
        }),
    }
}

/// Whether the agent produces a type that the client accepts. An empty list accepts everything.
pub(crate) fn check_output_modes(accepted: &[String], produced: &[String]) -> Result<(), A2aError> {
    if accepted.is_empty()
        || accepted.iter().any(|mode| media_type::accepts_any_produced_mode(mode, produced))
    {
        return Ok(());
    }
    Err(A2aError::new(
        A2aErrorKind::ContentTypeNotSupported,
        ErrorCode::InvalidRequest,
        "this agent produces none of the accepted output modes",
        format!("accept one of {}, or leave acceptedOutputModes out", produced.join(", ")),
    )
    .with_request_path("/params/configuration/acceptedOutputModes"))
}

/// The position after which a stream continues, as browsers and proxies send it.
pub(crate) fn last_event_id_position(headers: &HeaderMap) -> Result<Option<Position>, A2aError> {
    let Some(sent) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let pos = sent.to_str().ok().and_then(|text| text.trim().parse().ok());
    pos.map(Some).ok_or_else(|| {
        A2aError::new(
            A2aErrorKind::InvalidParams,
            ErrorCode::InvalidRequest,
            "the header Last-Event-ID is not a position",
            "repeat the id of the last event that was received, or 0 for the beginning",
        )
    })
}

#[cfg(test)]
mod tests;
