//! The JSON-RPC envelope: wraps requests, and unwraps results and refusals.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use super::{AgentRefusal, AgentRefusalKind, ClientError};

#[derive(Serialize)]
struct RpcRequest<'a> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a Map<String, Value>,
}

/// The id of the response is ignored: each response has its own connection or exchange.
#[derive(Deserialize)]
struct RpcResponse {
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

pub(super) fn encode_rpc_request(id: u64, method: &str, params: &Map<String, Value>) -> Bytes {
    let envelope = RpcRequest { jsonrpc: "2.0", id, method, params };
    serde_json::to_vec(&envelope).expect("maps of JSON can be written").into()
}

/// The result in a response, or the refusal.
pub(super) fn parse_rpc_response(text: &str, status: u16) -> Result<Box<RawValue>, ClientError> {
    let answer: RpcResponse = serde_json::from_str(text).map_err(ClientError::malformed_response_error)?;
    match answer.error {
        Some(error) => Err(ClientError::Refused(Box::new(AgentRefusal {
            kind: AgentRefusalKind::from_rpc_code(error.code),
            code: error.code,
            message: error.message,
            data: error.data,
            status,
        }))),
        // A null result is valid: a deletion returns nothing.
        None => Ok(answer.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
    }
}
