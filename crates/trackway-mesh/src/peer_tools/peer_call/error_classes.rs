//! What an error of a client means for a call.

use serde_json::Value;
use trackway_a2a_client::{ClientError, TransportError};
use trackway_domain::{ValidationError, limit_validation_errors};

/// Whether the agent may have taken the message although there is no answer.
pub(super) fn may_have_been_received(error: &ClientError) -> bool {
    match error {
        ClientError::Transport { source: TransportError::NotSent(_), .. } => false,
        ClientError::Status { status, .. } => !matches!(status, 429 | 503),
        ClientError::Refused(refusal) => !matches!(refusal.status, 429 | 503),
        _ => true,
    }
}

/// Whether the same request can never succeed.
pub(super) fn is_permanent(error: &ClientError) -> bool {
    match error {
        ClientError::Status { status, .. } => !is_temporary_status(*status),
        ClientError::Transport { .. } | ClientError::Timeout { .. } | ClientError::StreamClosed => false,
        ClientError::Refused(_) => false,
        _ => true,
    }
}

pub(super) fn is_temporary_status(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// The validation errors that a Trackway server sends with a refusal, at any level of its data.
pub(super) fn find_validation_errors(data: &Value) -> Vec<ValidationError> {
    let found = match data {
        Value::Object(object) => {
            if let Some(errors) = object.get("errors").or_else(|| object.get("validationErrors"))
                && let Ok(errors) = serde_json::from_value(errors.clone())
            {
                return errors;
            }
            object.values().map(find_validation_errors).find(|found| !found.is_empty())
        }
        Value::Array(items) => items.iter().map(find_validation_errors).find(|found| !found.is_empty()),
        _ => None,
    };
    limit_validation_errors(found.unwrap_or_default())
}
