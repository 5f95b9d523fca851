//! The parts that all HTTP exchanges share: identification, limits in size and time, failures.

use std::time::Duration;

use reqwest::{
    RequestBuilder, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};

use super::{ClientError, Options, ProtocolBinding, ProtocolVersion, sse_connection::EVENT_BYTES_MAX};

/// Largest answer that is read. It equals the limit of one stream event, because both contain a Task.
/// Limit (A2A): answer that our client reads.
const ANSWER_BYTES_MAX: usize = EVENT_BYTES_MAX;

/// How much of a failed answer is read: enough for any refusal with its details.
/// Limit (A2A): failed answer that our client reads.
const FAILURE_BYTES_MAX: usize = 256 * 1024;

/// How much of a failure that is not a refusal is shown.
/// Limit (A2A): text of an unknown failure that our client shows.
const SHOWN_CHARS_MAX: usize = 200;

/// The headers that name the protocol version, the caller and the extensions.
pub(super) fn with_protocol_headers(
    request: RequestBuilder,
    generation: ProtocolVersion,
    options: &Options,
) -> RequestBuilder {
    let mut request = request;
    if generation == ProtocolVersion::V1 {
        // Agents treat a request without it as one of 0.3.
        request = request.header("a2a-version", generation.as_str());
    }
    if !options.extensions.is_empty() {
        request = request.header(generation.extensions_header(), options.extensions.join(", "));
    }
    if let Some(token) = &options.token {
        request = request.bearer_auth(token);
    }
    request
}

/// The response to a request, if it is a success. A failure is parsed in the form of the binding.
pub(super) async fn send_http_request(
    request: RequestBuilder,
    binding: Option<ProtocolBinding>,
) -> Result<Response, ClientError> {
    let doing = "sending the request";
    let sent = request.send().await;
    let response = sent.map_err(|source| ClientError::Transport { doing, source })?;
    if response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED {
        return Ok(response);
    }
    Err(error_from_response(response, binding).await)
}

/// The error in a failed response: a refusal of the protocol, or only its status.
async fn error_from_response(response: Response, binding: Option<ProtocolBinding>) -> ClientError {
    let status = response.status().as_u16();
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
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

pub(super) async fn read_response_text(response: Response) -> Result<String, ClientError> {
    let body = read_response_limited(response, ANSWER_BYTES_MAX).await?;
    String::from_utf8(body).map_err(ClientError::malformed_response_error)
}

async fn read_response_limited(mut response: Response, bytes_max: usize) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|source| {
            let doing = "reading the answer";
            ClientError::Transport { doing, source }
        })?;
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

pub(super) fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
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
