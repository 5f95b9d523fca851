//! Checks bodies before the transport parses them. A call that is too long or too deep gets an ordinary
//! refusal. The transport would answer with an error that makes clients throw.

use std::{future::poll_fn, pin::Pin};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode},
    middleware::Next,
    response::Response,
};
use rmcp::model::ProtocolVersion;
use serde_json::Value;
use trackway_domain::ErrorCode;

use super::problem_response;
use crate::{
    jsonrpc::{self, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, REVISION_HEADER},
    unparsed_messages::{CALL_METHOD, ClientResultFormat, JsonRpcMessageScan, UnparsedMessageReason},
};

/// How much of a refused body is searched for its request id. An agent that sends a whole file by mistake
/// gets a refusal. A longer body gets no answer under its id.
/// Limit (MCP): part of a refused body that is searched for its request id.
const SCANNED_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) async fn refuse_too_long_or_deep_bodies(
    State(bytes_max): State<usize>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let (scan, unread) = match buffer_or_scan_body(body, bytes_max).await {
        Ok(BufferedBody::Body(body)) => {
            let scan = JsonRpcMessageScan::scan_message(&body);
            match UnparsedMessageReason::check_nesting_depth(&scan) {
                Some(unread) => (scan, unread),
                None => {
                    let body = Bytes::from(body);
                    let request = Request::from_parts(parts, Body::from(body.clone()));
                    let response = next.run(request).await;
                    return invalid_jsonrpc_response(&response, &body).unwrap_or(response);
                }
            }
        }
        Ok(BufferedBody::TooLong(scan)) => (scan, UnparsedMessageReason::TooLong { bytes_max }),
        Err(error) => {
            let detail = format!("the body cannot be read: {error}");
            return problem_response(StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest, &detail);
        }
    };
    match unread.jsonrpc_refusal_answer(&scan, client_result_format(&parts.headers)) {
        Some(answer) => unparsed_message_response(unread, &answer),
        None => problem_response(
            unparsed_message_status(unread),
            ErrorCode::TooLarge,
            "the message is too large or too deep",
        ),
    }
}

/// The JSON-RPC answer to a body that is JSON, as its header says, but not a message.
fn invalid_jsonrpc_response(response: &Response, body: &[u8]) -> Option<Response> {
    // The status that the transport uses for a body that it cannot read or that has another type.
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return None;
    }
    let sent = serde_json::from_slice::<Value>(body);
    let is_call = |sent: &Value| sent["method"].as_str() == Some(CALL_METHOD);
    let (code, message) = match &sent {
        Err(error) => (PARSE_ERROR, format!("the body is not JSON: {error}")),
        Ok(sent) if is_call(sent) => (INVALID_PARAMS, "the call is not of its form".to_owned()),
        Ok(_) => (INVALID_REQUEST, "the body is not a message of JSON-RPC".to_owned()),
    };
    let id = sent.ok().map(|sent| sent["id"].clone());
    let id = id.filter(|id| id.is_string() || id.is_number()).unwrap_or_default();
    Some(jsonrpc::http_json_response(
        StatusCode::BAD_REQUEST,
        &jsonrpc::jsonrpc_error_message(&id, code, &message),
    ))
}

enum BufferedBody {
    Body(Vec<u8>),
    TooLong(JsonRpcMessageScan),
}

/// The whole body if it is within its limit. Nothing of a longer body is kept.
async fn buffer_or_scan_body(mut body: Body, bytes_max: usize) -> Result<BufferedBody, axum::Error> {
    let mut kept = Vec::new();
    while let Some(piece) = next_body_chunk(&mut body).await? {
        if piece.len() <= bytes_max - kept.len() {
            kept.extend_from_slice(&piece);
            continue;
        }
        let mut scan = JsonRpcMessageScan::scan_message(&kept);
        scan.scan_chunk(&piece);
        let mut room = SCANNED_BYTES_MAX.saturating_sub(kept.len() + piece.len());
        drop(kept);
        while let Some(piece) = self::next_body_chunk(&mut body).await? {
            let Some(left) = room.checked_sub(piece.len()) else { break };
            room = left;
            scan.scan_chunk(&piece);
        }
        return Ok(BufferedBody::TooLong(scan));
    }
    Ok(BufferedBody::Body(kept))
}

async fn next_body_chunk(body: &mut Body) -> Result<Option<Bytes>, axum::Error> {
    loop {
        match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await.transpose()? {
            None => return Ok(None),
            Some(frame) => {
                // Trailers are not used.
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

fn client_result_format(headers: &HeaderMap) -> ClientResultFormat {
    let newest = ProtocolVersion::V_2026_07_28;
    let said = headers.get(REVISION_HEADER).and_then(|said| said.to_str().ok());
    match said.is_some_and(|said| said >= newest.as_str()) {
        true => ClientResultFormat::Newest,
        false => ClientResultFormat::Older,
    }
}

fn unparsed_message_response(unparsed_reason: UnparsedMessageReason, answer: &Value) -> Response {
    // A refused call is an ordinary answer. An error of the protocol has its own status.
    let status = if answer.get("result").is_some() {
        StatusCode::OK
    } else {
        unparsed_message_status(unparsed_reason)
    };
    jsonrpc::http_json_response(status, answer)
}

fn unparsed_message_status(unparsed_reason: UnparsedMessageReason) -> StatusCode {
    match unparsed_reason {
        UnparsedMessageReason::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        UnparsedMessageReason::TooDeep => StatusCode::BAD_REQUEST,
    }
}
