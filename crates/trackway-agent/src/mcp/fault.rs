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
pub(super) fn greeting(error: &ClientInitializeError) -> String {
    let text = match error {
        ClientInitializeError::TransportError { error, .. } => return transport(error),
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        other => other.to_string(),
    };
    short(&text)
}

/// Why a request failed.
pub(super) fn service(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => transport(error),
        other => short(&other.to_string()),
    }
}

/// Why a message could not be sent or received.
pub(super) fn transport(error: &DynamicTransportError) -> String {
    let error = error.error.as_ref();
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => trackway_outgoing::failure(error),
        Some(StreamableHttpError::AuthRequired(_)) => {
            "it requires authorization (401); configure a header `Authorization`".to_owned()
        }
        Some(StreamableHttpError::InsufficientScope(_)) => "it forbids this (403)".to_owned(),
        _ => short(&error.to_string()),
    }
}

fn short(text: &str) -> String {
    text.chars().take(WORDS_CHARS_MAX).collect()
}
