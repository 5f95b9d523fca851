//! The parts that all exchanges share: identification, limits in size and time, failures.

use std::time::Duration;

use futures_util::TryStreamExt;
use reqwest::{
    StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
};

use super::{
    ClientError, Options, ProtocolBinding, ProtocolVersion, RequestTransport, TransportRequest,
    TransportResponse, sse_connection::EVENT_BYTES_MAX,
};

/// Largest answer that is read. It equals the limit of one stream event, because both contain a Task.
/// Limit (A2A): answer that our client reads.
pub(super) const ANSWER_BYTES_MAX: usize = EVENT_BYTES_MAX;

/// How much of a failed answer is read: enough for any refusal with its details.
/// Limit (A2A): failed answer that our client reads.
const FAILURE_BYTES_MAX: usize = 256 * 1024;

/// How much of a failure that is not a refusal is shown.
/// Limit (A2A): text of an unknown failure that our client shows.
const SHOWN_CHARS_MAX: usize = 200;

/// The headers that name the protocol version, the caller and the extensions, and those that the caller
/// wants to be sent.
pub(super) fn protocol_headers(
    generation: ProtocolVersion,
    options: &Options,
) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    if generation == ProtocolVersion::V1 {
        // Agents treat a request without it as one of 0.3.
        headers.insert("a2a-version", HeaderValue::from_static(generation.as_str()));
    }
    if !options.extensions.is_empty() {
        let name = generation.extensions_header();
        headers.insert(HeaderName::from_static(name), header_value(name, &options.extensions.join(", "))?);
    }
    if let Some(token) = &options.token {
        let mut value = header_value("authorization", &format!("Bearer {token}"))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    // A header of the caller replaces one of the same name.
    headers.extend(options.headers.clone());
    if let Some(source) = &options.header_source {
        headers.extend(source.headers_for_request());
    }
    Ok(headers)
}

fn header_value(name: &'static str, value: &str) -> Result<HeaderValue, ClientError> {
    HeaderValue::from_str(value).map_err(|_| ClientError::InvalidHeader { name })
}

/// The response to a request, if it is a success. A failure is parsed in the form of the binding.
pub(super) async fn send_request(
    transport: &dyn RequestTransport,
    request: TransportRequest,
    binding: Option<ProtocolBinding>,
) -> Result<TransportResponse, ClientError> {
    let sent = transport.send_request(request).await;
    let response = sent.map_err(|error| ClientError::from_transport_error("sending the request", error))?;
    if response.status.is_success() || response.status == StatusCode::NOT_MODIFIED {
        return Ok(response);
    }
    Err(error_from_response(response, binding).await)
}

/// The error in a failed response: a refusal of the protocol, or only its status.
async fn error_from_response(response: TransportResponse, binding: Option<ProtocolBinding>) -> ClientError {
    let status = response.status.as_u16();
    let seconds = response.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    // Dates are ignored: they are useless if the clocks differ.
    let seconds = seconds.and_then(|text| text.trim().parse().ok());
    let retry_after: Option<Duration> = seconds.map(Duration::from_secs);
    let body = read_response_limited(response, FAILURE_BYTES_MAX).await.unwrap_or_default();
    let body = String::from_utf8_lossy(&body);
    match binding.map(|binding| binding.parse_binding_response(&body, status)) {
        // The requested wait is more important than the text.
        Some(Err(refused @ ClientError::Refused(_))) if retry_after.is_none() => refused,
        _ => {
            let body = body.chars().take(SHOWN_CHARS_MAX).collect();
            ClientError::Status { status, retry_after, body }
        }
    }
}

pub(super) async fn read_response_text(
    response: TransportResponse,
    bytes_max: usize,
) -> Result<String, ClientError> {
    let body = read_response_limited(response, bytes_max).await?;
    String::from_utf8(body).map_err(ClientError::malformed_response_error)
}

async fn read_response_limited(
    mut response: TransportResponse,
    bytes_max: usize,
) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    loop {
        let chunk = response.body.try_next().await;
        let chunk = chunk.map_err(|error| ClientError::from_transport_error("reading the answer", error))?;
        let Some(chunk) = chunk else {
            return Ok(body);
        };
        if body.len() + chunk.len() > bytes_max {
            return Err(ClientError::malformed_response_error(format_args!(
                "it is larger than {bytes_max} bytes"
            )));
        }
        body.extend_from_slice(&chunk);
    }
}

pub(super) fn is_event_stream(response: &TransportResponse) -> bool {
    let kind = response.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("text/event-stream")
}

pub(super) async fn with_timeout<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, ClientError> {
    match tokio::time::timeout(timeout, work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(ClientError::Timeout { after: timeout }),
    }
}
