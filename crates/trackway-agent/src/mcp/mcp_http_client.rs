//! The HTTP client for a server at an address.
//!
//! This is the protocol's own HTTP client with the same filter that
//! [`server_stdout_filter`](super::server_stdout_filter) applies to a process. An answer that cannot be
//! read, or is too long, immediately becomes an error of its request. It is not dropped while the call
//! waits. Tools that can only be called as tasks are removed from lists.

use std::{borrow::Cow, collections::HashMap, io, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream::BoxStream};
use reqwest::{
    Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
        StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::{Sse, SseStream};

use super::server_stdout_filter::{MESSAGE_BYTES_MAX, remove_task_only_tools, unreadable_answer_error};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";

/// Headers that the protocol sets itself.
const RESERVED: [&str; 3] = ["accept", SESSION, "last-event-id"];

/// Bytes that are read from the body of a refusal.
/// Limit (Tools): bytes of a refusal of an MCP server at an address.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;

type Error = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// A client for one server.
#[derive(Debug, Clone)]
pub(super) struct McpHttpClient(pub(super) reqwest::Client);

impl StreamableHttpClient for McpHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let mut request = self.0.post(&*uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        for (name, value) in headers {
            if RESERVED.contains(&name.as_str()) {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        let has_session = session_id.is_some();
        if let Some(id) = session_id {
            request = request.header(SESSION, &*id);
        }
        let response = request.json(&message).send().await?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if has_session => Err(StreamableHttpError::SessionExpired),
            status if status.is_success() => read_post_response(&message, response).await,
            _ => read_error_status_response(&message, has_session, response).await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        self.0.delete_session(uri, session_id, auth, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Error> {
        let max = MESSAGE_BYTES_MAX;
        let opened =
            self.0.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth, headers, max);
        // The stream may deliver a list of tools that was pending when the connection broke off.
        Ok(opened.await?.map(|event| event.map(|event| replace_unreadable_sse_event(event, None))).boxed())
    }
}

/// The answer to a message.
async fn read_post_response(
    message: &ClientJsonRpcMessage,
    response: Response,
) -> Result<StreamableHttpPostResponse, Error> {
    let id = json_rpc_request_id(message);
    let session = header_text(&response, SESSION);
    let kind = header_text(&response, CONTENT_TYPE.as_str());
    match kind.as_deref() {
        Some(kind) if kind.starts_with(EVENTS) => {
            let events = read_sse_events(response.bytes_stream(), id);
            Ok(StreamableHttpPostResponse::Sse(events, session))
        }
        Some(kind) if kind.starts_with(JSON) => {
            let body = read_body_up_to_limit(response, MESSAGE_BYTES_MAX).await?;
            let (Some(id), body) = (id, body.and_then(parse_server_message)) else {
                // Only a request is answered.
                return Ok(StreamableHttpPostResponse::Accepted);
            };
            let message = body.unwrap_or_else(|why| unreadable_answer_reply(id, &why));
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        // Some servers answer a notification this way.
        None if id.is_none() => Ok(StreamableHttpPostResponse::Accepted),
        _ => Err(StreamableHttpError::UnexpectedContentType(kind)),
    }
}

/// The meaning of a status that is not a success.
async fn read_error_status_response(
    message: &ClientJsonRpcMessage,
    has_session: bool,
    response: Response,
) -> Result<StreamableHttpPostResponse, Error> {
    let status = response.status();
    let challenge = header_text(&response, WWW_AUTHENTICATE.as_str());
    let retry_after = header_text(&response, RETRY_AFTER.as_str());
    match (status, challenge) {
        (StatusCode::UNAUTHORIZED, challenge) => {
            let error = AuthRequiredError::new(challenge.unwrap_or_default());
            return Err(StreamableHttpError::AuthRequired(error));
        }
        (StatusCode::FORBIDDEN, challenge) => {
            let error = InsufficientScopeError::new(challenge.unwrap_or_default(), None);
            return Err(StreamableHttpError::InsufficientScope(error));
        }
        (StatusCode::TOO_MANY_REQUESTS, _) => {
            return Err(HttpStatusError::new(status.as_u16(), retry_after).into());
        }
        _ => {}
    }
    let session = header_text(&response, SESSION);
    let body = read_body_up_to_limit(response, REFUSAL_BYTES_MAX).await?.unwrap_or_default();
    let error = match parse_server_message(body.clone()) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    // A server that does not know this request often cannot name the request that it rejects.
    if let Some(id) = discover_request_id(message).filter(|_| !has_session && status.is_client_error()) {
        let error = error.map_or_else(|| ErrorData::invalid_request("refused", None), |e| e.error);
        let refused = ServerJsonRpcMessage::error(error, Some(id));
        return Ok(StreamableHttpPostResponse::Json(refused, None));
    }
    match error {
        Some(error) => {
            let refused = ServerJsonRpcMessage::Error(error);
            Ok(StreamableHttpPostResponse::Json(refused, session))
        }
        None if status.is_server_error() => Err(HttpStatusError::new(status.as_u16(), retry_after).into()),
        None => {
            let text = format!("HTTP {status}: {}", String::from_utf8_lossy(&body));
            Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(text)))
        }
    }
}

fn header_text(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn json_rpc_request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// The request that starts a connection of the newest protocol.
fn discover_request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            Some(request.id.clone())
        }
        _ => None,
    }
}

/// The whole body, or why it cannot be read.
async fn read_body_up_to_limit(
    mut response: Response,
    bytes_max: usize,
) -> Result<Result<Vec<u8>, String>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > bytes_max {
            return Ok(Err(body_too_long_reason(bytes_max)));
        }
        body.extend_from_slice(&piece);
    }
    Ok(Ok(body))
}

fn body_too_long_reason(bytes_max: usize) -> String {
    format!("it is longer than {bytes_max} bytes")
}

fn parse_server_message(body: Vec<u8>) -> Result<ServerJsonRpcMessage, String> {
    serde_json::from_slice(&remove_task_only_tools(body)).map_err(|error| error.to_string())
}

fn unreadable_answer_reply(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(unreadable_answer_error(why), Some(id))
}

/// The events of a body that answers this request.
fn read_sse_events(
    body: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
    id: Option<RequestId>,
) -> Events {
    let mut size = SseEventSizeLimit::default();
    let bounded = body.map(move |piece| {
        let piece = piece.map_err(io::Error::other)?;
        if size.exceeds_event_limit_after(&piece) {
            Err(io::Error::other(SseEventTooLongError))
        } else {
            Ok(piece)
        }
    });
    let read = move |event: Result<Sse, SseError>| match (event, &id) {
        (Ok(event), id) => Ok(replace_unreadable_sse_event(event, id.as_ref())),
        // If the failure is not a network failure, the rest of the stream is not usable either.
        (Err(error), Some(id)) if !matches!(error, SseError::Body(_)) || is_event_too_long_error(&error) => {
            let answer = unreadable_answer_reply(id.clone(), &error.to_string());
            Ok(Sse { data: serde_json::to_string(&answer).ok(), ..Sse::default() })
        }
        (Err(error), _) => Err(error),
    };
    SseStream::from_bytes_stream(bounded).map(read).boxed()
}

/// The event. An error replaces an answer that cannot be read.
fn replace_unreadable_sse_event(mut event: Sse, id: Option<&RequestId>) -> Sse {
    let Some(data) = event.data.take_if(|data| !data.trim().is_empty()) else { return event };
    let data = remove_task_only_tools(data.into_bytes());
    let why = serde_json::from_slice::<ServerJsonRpcMessage>(&data).err();
    event.data = match (why, id) {
        (Some(why), Some(id)) => {
            serde_json::to_string(&unreadable_answer_reply(id.clone(), &why.to_string())).ok()
        }
        _ => Some(String::from_utf8_lossy(&data).into_owned()),
    };
    event
}

/// An event is longer than the limit.
#[derive(Debug, thiserror::Error)]
#[error("an event is longer than {MESSAGE_BYTES_MAX} bytes")]
struct SseEventTooLongError;

fn is_event_too_long_error(error: &SseError) -> bool {
    let SseError::Body(error) = error else { return false };
    let error = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is_some_and(|error| error.is::<SseEventTooLongError>())
}

/// Bytes of the current event. An empty line ends it.
#[derive(Debug, Default)]
struct SseEventSizeLimit {
    event: usize,
    line: usize,
}

impl SseEventSizeLimit {
    fn exceeds_event_limit_after(&mut self, piece: &[u8]) -> bool {
        for byte in piece {
            match byte {
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => {
                    self.line += 1;
                    self.event += 1;
                }
            }
            if self.event > MESSAGE_BYTES_MAX {
                return true;
            }
        }
        false
    }
}
