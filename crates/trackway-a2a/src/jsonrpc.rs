//! The JSON-RPC 2.0 envelope. Requests are parsed without copies; responses are written once.

mod json_rpc_server;
mod json_rpc_v03_calls;
mod json_rpc_v1_calls;

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};
use serde_json::value::RawValue;
use serde_path_to_error::Segment;
use trackway_domain::ErrorCode;

use crate::{
    error::{A2aError, A2aErrorDetail, A2aErrorKind},
    protocol_version::ProtocolVersion,
    wire::error_details::ErrorDetails,
};

pub(crate) use json_rpc_server::serve_json_rpc;

/// Longest request id. Every event of a stream repeats it, so it must be short.
/// Limit (A2A): JSON-RPC request id.
const ID_BYTES_MAX: usize = 1_024;

/// A well-formed request. Its method may still be unknown.
#[derive(Debug)]
pub(crate) struct RpcRequest<'a> {
    /// As the client sent it: a string, a number or null. Null if it is missing.
    pub(crate) id: &'a RawValue,
    has_id: bool,
    pub(crate) method: Cow<'a, str>,
    params: Option<&'a RawValue>,
}

/// A body that is not a request, and the id for its answer.
#[derive(Debug)]
pub(crate) struct RpcParseError<'a> {
    pub(crate) id: &'a RawValue,
    pub(crate) fault: A2aError,
}

#[derive(Deserialize)]
struct RpcEnvelope<'a> {
    #[serde(borrow, default, deserialize_with = "deserialize_present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "deserialize_present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "deserialize_present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "deserialize_present")]
    params: Option<&'a RawValue>,
}

pub(crate) fn parse_rpc_request(body: &[u8]) -> Result<RpcRequest<'_>, RpcParseError<'_>> {
    let anonymous = |fault| RpcParseError { id: RawValue::NULL, fault };
    let text = std::str::from_utf8(body).map_err(|error| {
        anonymous(body_not_json_error(&format!("the body is not UTF-8 after byte {}", error.valid_up_to())))
    })?;
    let envelope = parse_rpc_envelope(text).map_err(anonymous)?;
    let id = envelope.id.unwrap_or(RawValue::NULL);
    match check_rpc_envelope(&envelope) {
        Ok(method) => Ok(RpcRequest { id, has_id: envelope.id.is_some(), method, params: envelope.params }),
        // A malformed id is not repeated either.
        Err(fault) if is_valid_rpc_id(id) => Err(RpcParseError { id, fault }),
        Err(fault) => Err(anonymous(fault)),
    }
}

fn parse_rpc_envelope(text: &str) -> Result<RpcEnvelope<'_>, A2aError> {
    let opens = text.trim_start().as_bytes().first();
    let read = match opens {
        // Only an object is allowed: a derived reader would also accept an array.
        Some(b'{') => serde_json::from_str(text),
        _ => serde_json::from_str(text).and_then(|_: IgnoredAny| {
            let what = if opens == Some(&b'[') { "a batch" } else { "no object" };
            Err(serde::de::Error::custom(what))
        }),
    };
    read.map_err(|error: serde_json::Error| {
        // A value of the wrong type can hide that the following text is not JSON at all.
        match serde_json::from_str::<IgnoredAny>(text) {
            Err(syntax) => body_not_json_error(&syntax.to_string()),
            Ok(_) if opens == Some(&b'[') => {
                invalid_rpc_request_error("batches are not part of A2A", "send each request by itself")
            }
            Ok(_) if opens != Some(&b'{') => {
                invalid_rpc_request_error("a request is an object", NEXT_REQUEST)
            }
            Ok(_) => invalid_rpc_request_error(&error.to_string(), NEXT_REQUEST),
        }
    })
}

const NEXT_REQUEST: &str = "send {\"jsonrpc\": \"2.0\", \"id\": …, \"method\": …, \"params\": {…}}";

fn check_rpc_envelope<'a>(envelope: &RpcEnvelope<'a>) -> Result<Cow<'a, str>, A2aError> {
    let version = envelope.jsonrpc.and_then(parse_json_string);
    if version.as_deref() != Some("2.0") {
        return Err(invalid_rpc_request_error("`jsonrpc` must be \"2.0\"", NEXT_REQUEST));
    }
    match envelope.id {
        Some(id) if !is_valid_rpc_id(id) => {
            let next = "send a string or a number of your choice; it comes back with the response";
            return Err(invalid_rpc_request_error(
                "`id` must be a string, a number or null, and short",
                next,
            ));
        }
        // The check for a missing id comes last: other errors of the request are more useful.
        Some(_) | None => {}
    }
    envelope
        .method
        .and_then(parse_json_string)
        .ok_or_else(|| invalid_rpc_request_error("`method` must be a string", NEXT_REQUEST))
}

fn is_valid_rpc_id(id: &RawValue) -> bool {
    let text = id.get();
    let scalar = |byte: u8| matches!(byte, b'"' | b'-' | b'n') || byte.is_ascii_digit();
    text.len() <= ID_BYTES_MAX && text.bytes().next().is_some_and(scalar)
}

impl<'a> RpcRequest<'a> {
    /// A request without an id has no reader for its answer, so it is not executed.
    fn require_rpc_id(&self) -> Result<(), A2aError> {
        if self.has_id {
            return Ok(());
        }
        Err(invalid_rpc_request_error("`id` is missing", "send an `id`; notifications are not part of A2A"))
    }

    /// The parameters as `T`, which is an object.
    pub(crate) fn parse_rpc_params<T: Deserialize<'a>>(&self) -> Result<T, A2aError> {
        let text = match self.params.map(RawValue::get) {
            Some(text) if text.starts_with('{') => text,
            Some(_) => {
                let next = "send the parameters by name";
                return Err(A2aError::invalid_param_error("/params", "params must be an object", next));
            }
            None => {
                return Err(A2aError::invalid_param_error("/params", "params are missing", "send them"));
            }
        };
        serde_json::from_str(text).map_err(|error| invalid_value_error::<T>(text, &error, "/params"))
    }

    /// The same for methods without required parameters.
    pub(crate) fn parse_rpc_params_or_default<T: Deserialize<'a> + Default>(&self) -> Result<T, A2aError> {
        match self.params.map(RawValue::get) {
            None | Some("null") => Ok(T::default()),
            Some(_) => self.parse_rpc_params(),
        }
    }
}

/// The message of serde for a value that is not a `T`, with a path instead of line and column, and the
/// expected value. `root` is the location of the value in the request.
pub(crate) fn invalid_value_error<'a, T: Deserialize<'a>>(
    text: &'a str,
    error: &serde_json::Error,
    root: &str,
) -> A2aError {
    let said = error.to_string();
    if said.starts_with("recursion limit exceeded") {
        // The engine's limit is lower; this one only protects the parser.
        let next = "send flatter data, or send it as text";
        return A2aError::invalid_param_error(root, "the request is nested too deeply", next);
    }
    let path = format!("{root}{}", find_parse_error_pointer::<T>(text));
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let next = if said.starts_with("missing field") {
        format!("add it at {path}")
    } else if let Some((_, expected)) = said.rsplit_once(", expected ") {
        format!("send {expected} at {path}")
    } else {
        format!("correct the value at {path}")
    };
    A2aError::invalid_param_error(path.clone(), format!("{path}: {said}"), next)
}

/// JSON pointer of the value that prevents parsing as `T`. This parses the text a second time, so that
/// valid requests cost nothing.
fn find_parse_error_pointer<'a, T: Deserialize<'a>>(text: &'a str) -> String {
    let mut reader = serde_json::Deserializer::from_str(text);
    let Err(error) = serde_path_to_error::deserialize::<_, T>(&mut reader) else {
        return String::new();
    };
    let steps = error.path().iter().map_while(|segment| match segment {
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    steps.collect()
}

/// Whether a field is present; a null is present.
fn deserialize_present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn parse_json_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct JsonString<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str(raw.get()).ok().map(|JsonString(text)| text)
}

pub(crate) fn body_not_json_error(why: &str) -> A2aError {
    let message = format!("the body is not JSON: {why}");
    A2aError::new(A2aErrorKind::Parse, ErrorCode::InvalidRequest, message, "send the request as JSON")
}

fn invalid_rpc_request_error(why: &str, next: &'static str) -> A2aError {
    A2aError::new(A2aErrorKind::InvalidRequest, ErrorCode::InvalidRequest, why, next)
}

#[derive(Serialize)]
struct RpcSuccess<'a, T> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: T,
}

#[derive(Serialize)]
struct RpcFailure<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    error: RpcError<'a>,
}

#[derive(Serialize)]
struct RpcError<'a> {
    code: i32,
    message: &'a str,
    data: RpcErrorData<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RpcErrorData<'a> {
    V03(&'a A2aErrorDetail),
    V1(ErrorDetails<'a>),
}

/// Appends one response to `out`.
fn write_rpc_response<T: Serialize>(
    out: &mut Vec<u8>,
    id: &RawValue,
    outcome: Result<T, &A2aError>,
    generation: ProtocolVersion,
) {
    let written = match outcome {
        Ok(result) => serde_json::to_writer(out, &RpcSuccess { jsonrpc: "2.0", id, result }),
        Err(fault) => {
            let data = match generation {
                ProtocolVersion::V03 => RpcErrorData::V03(&fault.detail),
                ProtocolVersion::V1 => RpcErrorData::V1(ErrorDetails(fault)),
            };
            let error = RpcError { code: fault.kind.json_rpc_code(), message: &fault.message, data };
            serde_json::to_writer(out, &RpcFailure { jsonrpc: "2.0", id, error })
        }
    };
    written.expect("memory can be written, and our types hold no map with keys other than strings");
}

/// A refusal as a whole body.
fn rpc_error_body(id: &RawValue, fault: &A2aError, generation: ProtocolVersion) -> Vec<u8> {
    let mut out = Vec::new();
    write_rpc_response::<()>(&mut out, id, Err(fault), generation);
    out
}

fn unknown_rpc_method_error(method: &str, known: &str) -> A2aError {
    let shown: String = method.chars().take(64).collect();
    A2aError::new(
        A2aErrorKind::MethodNotFound,
        ErrorCode::InvalidRequest,
        format!("there is no method {shown:?}"),
        format!("send one of {known}"),
    )
}

#[cfg(test)]
mod tests;
