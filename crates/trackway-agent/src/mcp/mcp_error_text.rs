//! Error messages for failed connections. They contain no addresses, because a query may be a secret.

use rmcp::{
    ServiceError,
    service::ClientInitializeError,
    transport::{DynamicTransportError, streamable_http_client::StreamableHttpError},
};

/// Longest excerpt of a server's own error message.
/// Limit (Tools): text of a tool server's own failure that is repeated.
const WORDS_CHARS_MAX: usize = 300;

/// Why a server could not be initialized.
pub(super) fn describe_initialize_error(error: &ClientInitializeError) -> String {
    let text = match error {
        ClientInitializeError::TransportError { error, .. } => {
            return describe_transport_error(error);
        }
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        other => other.to_string(),
    };
    truncate_error_text(&text)
}

/// Why a request failed.
pub(super) fn describe_service_error(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => describe_transport_error(error),
        other => truncate_error_text(&other.to_string()),
    }
}

/// Why a message could not be sent or received.
pub(super) fn describe_transport_error(error: &DynamicTransportError) -> String {
    let error = error.error.as_ref();
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => trackway_outgoing::describe_request_error(error),
        Some(StreamableHttpError::AuthRequired(_)) => {
            "it requires authorization (401); configure a header `Authorization`".to_owned()
        }
        Some(StreamableHttpError::InsufficientScope(_)) => "it forbids this (403)".to_owned(),
        _ => truncate_error_text(&error.to_string()),
    }
}

fn truncate_error_text(text: &str) -> String {
    text.chars().take(WORDS_CHARS_MAX).collect()
}
