//! Replaces refusals that tonic makes before a request reaches us with our own.

use axum::http::Response;
use tonic::Code;

use super::grpc_status::to_grpc_status;
use crate::{
    error::{A2aError, A2aErrorKind},
    http,
};

/// The response unchanged; or our own refusal if it rejects a message that is too large or cannot be
/// parsed. Our own refusals carry details, and none of them has the first of these codes.
pub(super) fn replace_transport_error<B: Default>(
    response: Response<B>,
    body_bytes_max: usize,
) -> Response<B> {
    let headers = response.headers();
    let Some(code) = headers.get("grpc-status").map(|value| Code::from_bytes(value.as_bytes())) else {
        return response;
    };
    match code {
        Code::OutOfRange => to_grpc_status(&http::body_too_large_error(body_bytes_max)).into_http(),
        Code::Internal if !headers.contains_key("grpc-status-details-bin") => {
            to_grpc_status(&unreadable_message_error()).into_http()
        }
        _ => response,
    }
}

fn unreadable_message_error() -> A2aError {
    A2aError::new(
        A2aErrorKind::Parse,
        trackway_domain::ErrorCode::InvalidRequest,
        "the message cannot be read",
        "send the message of the method, in protobuf, without compression, not too deep",
    )
}
