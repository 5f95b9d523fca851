//! The JSON-RPC 2.0 envelope. Requests are parsed without copies; responses are written once.

mod serve;
mod v03;
mod v1;

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};
use serde_json::value::RawValue;
use serde_path_to_error::Segment;
use trackway_domain::Code;

use crate::{
    fault::{Detail, Fault, Kind},
    version::Generation,
    wire::details::Details,
};

pub(crate) use serve::serve;

/// Longest request id. Every event of a stream repeats it, so it must be short.
/// Limit (A2A): JSON-RPC request id.
const ID_BYTES_MAX: usize = 1_024;

/// A well-formed request. Its method may still be unknown.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// As the client sent it: a string, a number or null. Null if it is missing.
    pub(crate) id: &'a RawValue,
    has_id: bool,
    pub(crate) method: Cow<'a, str>,
    params: Option<&'a RawValue>,
}

/// A body that is not a request, and the id for its answer.
#[derive(Debug)]
pub(crate) struct Malformed<'a> {
    pub(crate) id: &'a RawValue,
    pub(crate) fault: Fault,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

pub(crate) fn parse(body: &[u8]) -> Result<Request<'_>, Malformed<'_>> {
    let anonymous = |fault| Malformed { id: RawValue::NULL, fault };
    let text = std::str::from_utf8(body).map_err(|error| {
        anonymous(not_json(&format!("the body is not UTF-8 after byte {}", error.valid_up_to())))
    })?;
    let envelope = envelope(text).map_err(anonymous)?;
    let id = envelope.id.unwrap_or(RawValue::NULL);
    match checked(&envelope) {
        Ok(method) => {
            Ok(Request { id, has_id: envelope.id.is_some(), method, params: envelope.params })
        }
        // A malformed id is not repeated either.
        Err(fault) if is_id(id) => Err(Malformed { id, fault }),
        Err(fault) => Err(anonymous(fault)),
    }
}

fn envelope(text: &str) -> Result<Envelope<'_>, Fault> {
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
            Err(syntax) => not_json(&syntax.to_string()),
            Ok(_) if opens == Some(&b'[') => {
                invalid("batches are not part of A2A", "send each request by itself")
            }
            Ok(_) if opens != Some(&b'{') => invalid("a request is an object", NEXT_REQUEST),
            Ok(_) => invalid(&error.to_string(), NEXT_REQUEST),
        }
    })
}

const NEXT_REQUEST: &str = "send {\"jsonrpc\": \"2.0\", \"id\": …, \"method\": …, \"params\": {…}}";

fn checked<'a>(envelope: &Envelope<'a>) -> Result<Cow<'a, str>, Fault> {
    let version = envelope.jsonrpc.and_then(text);
    if version.as_deref() != Some("2.0") {
        return Err(invalid("`jsonrpc` must be \"2.0\"", NEXT_REQUEST));
    }
    match envelope.id {
        Some(id) if !is_id(id) => {
            let next = "send a string or a number of your choice; it comes back with the response";
            return Err(invalid("`id` must be a string, a number or null, and short", next));
        }
        // The check for a missing id comes last: other errors of the request are more useful.
        Some(_) | None => {}
    }
    envelope.method.and_then(text).ok_or_else(|| invalid("`method` must be a string", NEXT_REQUEST))
}

fn is_id(id: &RawValue) -> bool {
    let text = id.get();
    let scalar = |byte: u8| matches!(byte, b'"' | b'-' | b'n') || byte.is_ascii_digit();
    text.len() <= ID_BYTES_MAX && text.bytes().next().is_some_and(scalar)
}

impl<'a> Request<'a> {
    /// A request without an id has no reader for its answer, so it is not executed.
    fn check_id(&self) -> Result<(), Fault> {
        if self.has_id {
            return Ok(());
        }
        Err(invalid("`id` is missing", "send an `id`; notifications are not part of A2A"))
    }

    /// The parameters as `T`, which is an object.
    pub(crate) fn params<T: Deserialize<'a>>(&self) -> Result<T, Fault> {
        let text = match self.params.map(RawValue::get) {
            Some(text) if text.starts_with('{') => text,
            Some(_) => {
                let next = "send the parameters by name";
                return Err(Fault::param("/params", "params must be an object", next));
            }
            None => return Err(Fault::param("/params", "params are missing", "send them")),
        };
        serde_json::from_str(text).map_err(|error| invalid_value::<T>(text, &error, "/params"))
    }

    /// The same for methods without required parameters.
    pub(crate) fn params_or_default<T: Deserialize<'a> + Default>(&self) -> Result<T, Fault> {
        match self.params.map(RawValue::get) {
            None | Some("null") => Ok(T::default()),
            Some(_) => self.params(),
        }
    }
}

/// The message of serde for a value that is not a `T`, with a path instead of line and column, and the
/// expected value. `root` is the location of the value in the request.
pub(crate) fn invalid_value<'a, T: Deserialize<'a>>(
    text: &'a str,
    error: &serde_json::Error,
    root: &str,
) -> Fault {
    let said = error.to_string();
    if said.starts_with("recursion limit exceeded") {
        // The engine's limit is lower; this one only protects the parser.
        let next = "send flatter data, or send it as text";
        return Fault::param(root, "the request is nested too deeply", next);
    }
    let path = format!("{root}{}", error_pointer::<T>(text));
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let next = if said.starts_with("missing field") {
        format!("add it at {path}")
    } else if let Some((_, expected)) = said.rsplit_once(", expected ") {
        format!("send {expected} at {path}")
    } else {
        format!("correct the value at {path}")
    };
    Fault::param(path.clone(), format!("{path}: {said}"), next)
}

/// JSON pointer of the value that prevents parsing as `T`. This parses the text a second time, so that
/// valid requests cost nothing.
fn error_pointer<'a, T: Deserialize<'a>>(text: &'a str) -> String {
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
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str(raw.get()).ok().map(|Text(text)| text)
}

pub(crate) fn not_json(why: &str) -> Fault {
    let message = format!("the body is not JSON: {why}");
    Fault::new(Kind::Parse, Code::InvalidRequest, message, "send the request as JSON")
}

fn invalid(why: &str, next: &'static str) -> Fault {
    Fault::new(Kind::InvalidRequest, Code::InvalidRequest, why, next)
}

#[derive(Serialize)]
struct Success<'a, T> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: T,
}

#[derive(Serialize)]
struct Failure<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    error: Failed<'a>,
}

#[derive(Serialize)]
struct Failed<'a> {
    code: i32,
    message: &'a str,
    data: Data<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Data<'a> {
    V03(&'a Detail),
    V1(Details<'a>),
}

/// Appends one response to `out`.
fn write<T: Serialize>(
    out: &mut Vec<u8>,
    id: &RawValue,
    outcome: Result<T, &Fault>,
    generation: Generation,
) {
    let written = match outcome {
        Ok(result) => serde_json::to_writer(out, &Success { jsonrpc: "2.0", id, result }),
        Err(fault) => {
            let data = match generation {
                Generation::V03 => Data::V03(&fault.detail),
                Generation::V1 => Data::V1(Details(fault)),
            };
            let error = Failed { code: fault.kind.json_rpc(), message: &fault.message, data };
            serde_json::to_writer(out, &Failure { jsonrpc: "2.0", id, error })
        }
    };
    written.expect("memory can be written, and our types hold no map with keys other than strings");
}

/// A refusal as a whole body.
fn refusal(id: &RawValue, fault: &Fault, generation: Generation) -> Vec<u8> {
    let mut out = Vec::new();
    write::<()>(&mut out, id, Err(fault), generation);
    out
}

fn no_method(method: &str, known: &str) -> Fault {
    let shown: String = method.chars().take(64).collect();
    Fault::new(
        Kind::MethodNotFound,
        Code::InvalidRequest,
        format!("there is no method {shown:?}"),
        format!("send one of {known}"),
    )
}

#[cfg(test)]
mod tests;
