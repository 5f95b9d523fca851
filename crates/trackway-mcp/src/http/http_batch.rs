//! Batches over HTTP: a list of messages in one request, from a client that names no later revision. Each
//! message is answered as if it came alone, and the answers are one list.

use axum::{
    body::Body,
    extract::Request,
    http::{Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use serde_json::Value;

use crate::{
    batch_rules::{BATCH_BYTES_MAX, BATCH_REVISION, BATCH_TOO_LARGE, batch_refusal_reason},
    jsonrpc::{self, INVALID_REQUEST, REVISION_HEADER},
};

/// Largest answer to one message of a batch.
///
/// Limit (MCP): bytes of one answer in a batch.
const BATCH_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(super) async fn serve_batch_request(request: Request, next: Next) -> Response {
    let revision = request.headers().get(REVISION_HEADER);
    let may_batch = revision.is_none_or(|revision| revision == BATCH_REVISION);
    if request.method() != Method::POST || !may_batch {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Some((body, is_batch)) = peek_is_json_array(body).await else {
        return batch_error_response(BATCH_TOO_LARGE);
    };
    if !is_batch {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let Ok(bytes) = axum::body::to_bytes(body, BATCH_BYTES_MAX).await else {
        return batch_error_response(BATCH_TOO_LARGE);
    };
    let messages = match serde_json::from_slice::<Vec<Value>>(&bytes) {
        Ok(messages) => messages,
        // The same answer as the transport gives to a body that is not JSON.
        Err(_) => return next.run(Request::from_parts(parts, Body::from(bytes))).await,
    };
    if let Some(reason) = batch_refusal_reason(&messages) {
        return batch_error_response(reason);
    }
    let mut answers = Vec::new();
    for message in messages {
        let mut parts = parts.clone();
        parts.headers.remove(header::CONTENT_LENGTH);
        let request = Request::from_parts(parts, Body::from(message.to_string()));
        answers.extend(read_jsonrpc_answer(next.clone().run(request).await).await);
    }
    if answers.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    jsonrpc::http_json_response(StatusCode::OK, &Value::Array(answers))
}

/// The body again, and whether it starts with a list.
async fn peek_is_json_array(body: Body) -> Option<(Body, bool)> {
    use futures_util::StreamExt as _;
    let mut stream = body.into_data_stream();
    let mut seen = Vec::new();
    loop {
        let piece = match stream.next().await {
            Some(Ok(piece)) => piece,
            Some(Err(_)) => return None,
            None => return Some((Body::from_stream(futures_util::stream::iter(seen)), false)),
        };
        let first = piece.iter().find(|byte| !byte.is_ascii_whitespace()).copied();
        seen.push(Ok::<_, axum::Error>(piece));
        if let Some(first) = first {
            let whole = futures_util::stream::iter(seen).chain(stream);
            return Some((Body::from_stream(whole), first == b'['));
        }
    }
}

/// The answer to the message: the body that the transport sent, or the answer inside its event stream.
async fn read_jsonrpc_answer(response: Response) -> Option<Value> {
    let bytes = axum::body::to_bytes(response.into_body(), BATCH_ANSWER_BYTES_MAX).await.ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let is_answer = |value: &Value| !value["result"].is_null() || !value["error"].is_null();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return is_answer(&value).then_some(value);
    }
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    events.filter_map(|data| serde_json::from_str::<Value>(data).ok()).find(is_answer)
}

fn batch_error_response(message: &str) -> Response {
    let answer = jsonrpc::jsonrpc_error_message(&Value::Null, INVALID_REQUEST, message);
    jsonrpc::http_json_response(StatusCode::BAD_REQUEST, &answer)
}
