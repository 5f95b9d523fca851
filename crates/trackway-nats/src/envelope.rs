//! The messages between nodes: a request of HTTP as one message, its answer as one or more.
//!
//! Everything that is not the body is in headers. Those of HTTP keep their names, so that a person who looks
//! at the stream recognises them.

use async_nats::HeaderMap as NatsHeaders;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::NatsError;

const ANSWER_KEY: &str = "Trackway-Answer-Key";
const CLAIM: &str = "Trackway-Claim";
const METHOD: &str = "Trackway-Method";
const STATUS: &str = "Trackway-Status";
const NODE: &str = "Trackway-Node";
const EXECUTION: &str = "Trackway-Execution";
const PART: &str = "Trackway-Part";
const END: &str = "Trackway-End";
const EVENT_ID: &str = "Trackway-Event-Id";
const OURS: [&str; 9] = [ANSWER_KEY, CLAIM, METHOD, STATUS, NODE, EXECUTION, PART, END, EVENT_ID];

/// Headers that belong to a connection and not to a request or an answer.
const NOT_CARRIED: [&str; 6] =
    ["connection", "content-length", "host", "keep-alive", "te", "transfer-encoding"];

/// A request without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestEnvelope {
    /// Names the subject of the answer.
    pub(crate) answer_key: String,
    /// What must be executed by one node only, however often it is delivered.
    pub(crate) claim: Option<String>,
    /// `POST` carries JSON-RPC, `GET` asks for the card.
    pub(crate) method: Method,
    /// Credentials among them.
    pub(crate) headers: HeaderMap,
}

/// One message of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerPart {
    /// Which execution of the request made it: a request that was delivered again is executed again.
    pub(crate) execution: String,
    /// Counts from 0 within the execution.
    pub(crate) index: u64,
    /// Only in the first part.
    pub(crate) head: Option<Box<AnswerHead>>,
    /// The position of the event, if the part begins one.
    pub(crate) event_id: Option<String>,
    pub(crate) payload: Bytes,
    /// Only in the last part.
    pub(crate) end: Option<AnswerEnd>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerHead {
    /// The node that answers, and that has the task if there is one.
    pub(crate) node: String,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerEnd {
    Complete,
    /// The node lost the rest.
    Broken,
}

impl RequestEnvelope {
    pub(crate) fn encode(&self) -> NatsHeaders {
        let mut headers = encode_http_headers(&self.headers);
        headers.insert(ANSWER_KEY, self.answer_key.as_str());
        headers.insert(METHOD, self.method.as_str());
        if let Some(claim) = &self.claim {
            headers.insert(CLAIM, claim.as_str());
        }
        headers
    }

    pub(crate) fn decode(headers: &NatsHeaders) -> Result<Self, NatsError> {
        let answer_key = required(headers, ANSWER_KEY)?;
        if answer_key.is_empty()
            || !answer_key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return Err(NatsError::malformed("its answer key is not a word"));
        }
        let method = match required(headers, METHOD)?.as_str() {
            "POST" => Method::POST,
            "GET" => Method::GET,
            other => return Err(NatsError::malformed(format_args!("it has the method {other:?}"))),
        };
        let claim = optional(headers, CLAIM);
        Ok(Self { answer_key, claim, method, headers: decode_http_headers(headers) })
    }
}

impl AnswerPart {
    pub(crate) fn encode(&self) -> NatsHeaders {
        let mut headers = match &self.head {
            Some(head) => {
                let mut headers = encode_http_headers(&head.headers);
                headers.insert(STATUS, head.status.as_str());
                headers.insert(NODE, head.node.as_str());
                headers
            }
            None => NatsHeaders::new(),
        };
        headers.insert(EXECUTION, self.execution.as_str());
        headers.insert(PART, self.index.to_string());
        if let Some(id) = self.event_id.as_deref().filter(|id| is_header_text(id)) {
            headers.insert(EVENT_ID, id);
        }
        match self.end {
            Some(AnswerEnd::Complete) => headers.insert(END, "complete"),
            Some(AnswerEnd::Broken) => headers.insert(END, "broken"),
            None => {}
        }
        headers
    }

    pub(crate) fn decode(headers: &NatsHeaders, payload: Bytes) -> Result<Self, NatsError> {
        let index = required(headers, PART)?.parse().map_err(NatsError::malformed)?;
        let head = match optional(headers, STATUS) {
            Some(status) => Some(Box::new(AnswerHead {
                node: required(headers, NODE)?,
                status: status.parse().map_err(NatsError::malformed)?,
                headers: decode_http_headers(headers),
            })),
            None => None,
        };
        let end = match optional(headers, END).as_deref() {
            Some("complete") => Some(AnswerEnd::Complete),
            Some(_) => Some(AnswerEnd::Broken),
            None => None,
        };
        let (execution, event_id) = (required(headers, EXECUTION)?, optional(headers, EVENT_ID));
        Ok(Self { execution, index, head, event_id, payload, end })
    }
}

fn required(headers: &NatsHeaders, name: &str) -> Result<String, NatsError> {
    optional(headers, name).ok_or_else(|| NatsError::malformed(format_args!("it has no header {name}")))
}

fn optional(headers: &NatsHeaders, name: &str) -> Option<String> {
    headers.get(name).map(|value| value.as_str().to_owned())
}

fn encode_http_headers(headers: &HeaderMap) -> NatsHeaders {
    let mut encoded = NatsHeaders::new();
    for (name, value) in headers {
        if let Ok(text) = value.to_str()
            && is_carried(name.as_str())
        {
            encoded.append(name.as_str(), text);
        }
    }
    encoded
}

fn decode_http_headers(headers: &NatsHeaders) -> HeaderMap {
    let mut decoded = HeaderMap::new();
    for (name, values) in headers.iter() {
        let name: &str = name.as_ref();
        let Some(name) =
            HeaderName::from_bytes(name.as_bytes()).ok().filter(|name| is_carried(name.as_str()))
        else {
            continue;
        };
        for value in values {
            if let Ok(mut value) = HeaderValue::from_str(value.as_str()) {
                value.set_sensitive(name == http::header::AUTHORIZATION);
                decoded.append(name.clone(), value);
            }
        }
    }
    decoded
}

/// Not the headers of NATS itself, nor ours, nor those of a connection.
fn is_carried(name: &str) -> bool {
    let ours = OURS.iter().any(|known| known.eq_ignore_ascii_case(name));
    let nats = name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("nats-"));
    !ours && !nats && !NOT_CARRIED.contains(&name.to_ascii_lowercase().as_str())
}

fn is_header_text(text: &str) -> bool {
    HeaderValue::from_str(text).is_ok_and(|value| value.to_str().is_ok())
}

#[cfg(test)]
mod tests;
