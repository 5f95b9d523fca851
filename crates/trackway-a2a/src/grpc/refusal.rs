//! Replaces refusals that tonic makes before a request reaches us with our own.

use axum::http::Response;
use tonic::Code;

use super::status::status;
use crate::{
    fault::{Fault, Kind},
    http,
};

/// The response unchanged; or our own refusal if it rejects a message that is too large or cannot be
/// parsed. Our own refusals carry details, and none of them has the first of these codes.
pub(super) fn ours<B: Default>(response: Response<B>, body_bytes_max: usize) -> Response<B> {
    let headers = response.headers();
    let Some(code) = headers.get("grpc-status").map(|value| Code::from_bytes(value.as_bytes()))
    else {
        return response;
    };
    match code {
        Code::OutOfRange => status(&http::too_large(body_bytes_max)).into_http(),
        Code::Internal if !headers.contains_key("grpc-status-details-bin") => {
            status(&unreadable()).into_http()
        }
        _ => response,
    }
}

fn unreadable() -> Fault {
    Fault::new(
        Kind::Parse,
        trackway_domain::Code::InvalidRequest,
        "the message cannot be read",
        "send the message of the method, in protobuf, without compression, not too deep",
    )
}
