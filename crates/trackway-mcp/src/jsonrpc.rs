//! JSON-RPC errors, the same on every transport.

use axum::{
    body::Body,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// The header in which clients over HTTP name their revision.
pub(crate) const REVISION_HEADER: &str = "mcp-protocol-version";

/// The answer to a message that was refused.
pub(crate) fn jsonrpc_error_message(id: &Value, code: i32, message: &str) -> Value {
    let error = json!({ "code": code, "message": message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

pub(crate) fn http_json_response(status: StatusCode, answer: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, Body::from(answer.to_string())).into_response()
}
