//! HTTP around the bindings: limited bodies, JSON answers, the address under which the client reached
//! us.

use std::net::SocketAddr;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use futures_util::StreamExt;
use serde::Serialize;
use trackway_domain::ErrorCode;

use crate::{
    Options,
    error::{A2aError, A2aErrorKind},
};

/// How much of a body above the limit is read and dropped before the refusal is sent, as a multiple of
/// the limit. Many clients read an answer only after they have sent everything.
/// Limit (A2A): size up to which a body above the limit is read and dropped, as a multiple of it.
const DRAIN_FACTOR: usize = 8;

/// A response of JSON bytes.
pub(crate) fn json_response(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// A response of JSON.
pub(crate) fn json_response_from<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let body = serde_json::to_vec(value);
    json_response(status, body.expect("our types hold no map with keys other than strings"))
}

/// Appends a value as JSON.
pub(crate) fn append_json<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value)
        .expect("memory can be written, and our types hold no map with keys other than strings");
}

/// A refusal outside any binding: an unknown address or method.
pub(crate) fn json_error_response(status: StatusCode, fault: &A2aError) -> Response {
    #[derive(Serialize)]
    struct ErrorBody<'a> {
        error: ErrorBodyContent<'a>,
    }

    #[derive(Serialize)]
    struct ErrorBodyContent<'a> {
        message: &'a str,
        #[serde(flatten)]
        detail: &'a crate::error::A2aErrorDetail,
    }

    let error = ErrorBodyContent { message: &fault.message, detail: &fault.detail };
    json_response_from(status, &ErrorBody { error })
}

/// Whether the body has the JSON content type. A browser sends this type to another site only after a
/// preflight request, so this check also prevents foreign pages from starting runs on this machine.
pub(crate) fn has_json_content_type(headers: &HeaderMap) -> bool {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = sent.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    ["application/json", "application/a2a+json"].iter().any(|ours| essence.eq_ignore_ascii_case(ours))
}

pub(crate) fn not_json_content_type_error() -> A2aError {
    A2aError::new(
        A2aErrorKind::ContentTypeNotSupported,
        ErrorCode::InvalidRequest,
        "the body must be of type application/json",
        "send the header Content-Type: application/json",
    )
}

/// The whole body, or the refusal.
pub(crate) async fn read_json_body(headers: &HeaderMap, body: Body, max: usize) -> Result<Bytes, A2aError> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    if length > max && headers.contains_key(header::EXPECT) {
        // The client waits for an interim response before it sends the body.
        return Err(body_too_large_error(max));
    }
    let mut chunks = body.into_data_stream();
    let mut first = Bytes::new();
    let mut joined: Vec<u8> = Vec::new();
    let mut total = 0_usize;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| incomplete_body_error())?;
        total = total.saturating_add(chunk.len());
        if total > max {
            joined = Vec::new();
            first = Bytes::new();
            if total > max.saturating_mul(DRAIN_FACTOR) {
                break;
            }
        } else if first.is_empty() && joined.is_empty() {
            // Nearly every body is one chunk, which is used without a copy.
            first = chunk;
        } else {
            if joined.is_empty() {
                joined.reserve(length.clamp(first.len() + chunk.len(), max));
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&chunk);
        }
    }
    if total > max {
        return Err(body_too_large_error(max));
    }
    Ok(if joined.is_empty() { first } else { joined.into() })
}

pub(crate) fn body_too_large_error(max: usize) -> A2aError {
    A2aError::new(
        A2aErrorKind::TooLarge,
        ErrorCode::TooLarge,
        format!("the body is larger than {max} bytes"),
        "send less at once; give large files by their uri",
    )
}

fn incomplete_body_error() -> A2aError {
    A2aError::new(
        A2aErrorKind::Parse,
        ErrorCode::InvalidRequest,
        "the body broke off",
        "send the request again",
    )
}

/// The prefix of our addresses: the configured one, or else the one that the client used.
pub(crate) fn request_base_url(headers: &HeaderMap, options: &Options) -> String {
    if let Some(url) = &options.public_url {
        return url.clone();
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    // The client's value is returned in addresses, so only a host is allowed.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    match text("host") {
        Some(host) if !host.is_empty() && host.bytes().all(plain) => {
            let forwarded = text("x-forwarded-proto").and_then(|list| list.split(',').next());
            let scheme = match forwarded.map(str::trim) {
                Some(proto) if proto.eq_ignore_ascii_case("https") => "https",
                _ => "http",
            };
            format!("{scheme}://{host}")
        }
        _ => options.base_url.clone(),
    }
}

/// Another of our addresses (`host:port`) for a client that reached us at `base_url`. An address that
/// means every interface of the machine is replaced with the client's name for the machine.
pub(crate) fn reachable_address(address: &str, base_url: &str) -> String {
    let port = match address.parse::<SocketAddr>() {
        Ok(socket) if socket.ip().is_unspecified() => socket.port(),
        _ => return address.to_owned(),
    };
    let named = base_url.split_once("://").map_or(base_url, |(_, named)| named);
    let named = named.split('/').next().unwrap_or_default();
    let host = match named.find(']') {
        Some(end) => &named[..=end],
        None => named.split(':').next().unwrap_or_default(),
    };
    format!("{host}:{port}")
}

#[cfg(test)]
mod tests;
