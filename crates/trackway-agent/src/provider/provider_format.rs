//! The common interface of provider formats: one builds a request, one reads a stream. Both are pure;
//! `http_provider` exchanges them with a server.

use std::{fmt, time::Duration};

use serde_json::Value;

use super::{Delta, ModelError, format_helpers::parse_error_message};
use crate::conversation::ModelRequest;

/// How one family of servers expects requests and sends answers.
pub(crate) trait ProviderFormat: Send + Sync + fmt::Debug {
    /// The path after the base address, with its query.
    fn request_path(&self, model: &str) -> String;

    /// The header that carries the key, and its value.
    fn authorization_header(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    /// Additional headers of every request.
    fn extra_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn build_request_body(&self, model: &str, request: &ModelRequest) -> Value;

    /// Optional fields of the body. A field that a server rejects by name is omitted from then on.
    fn optional_body_fields(&self) -> &'static [&'static str] {
        &[]
    }

    fn new_stream_reader(&self) -> Box<dyn AnswerStreamReader>;

    /// The message of an error body, if it has the format's own form.
    fn parse_error_message(&self, body: &Value) -> Option<String> {
        parse_error_message(body)
    }

    /// The wait that an error body asks for, for servers that have no header for it.
    fn retry_delay_from_body(&self, _body: &Value) -> Option<Duration> {
        None
    }
}

/// Reads the events of one answer.
pub(crate) trait AnswerStreamReader: Send {
    /// One event of the stream: its type (empty if it has none) and its data. Nothing is read after an
    /// event that writes [`Delta::Done`], because not every server closes the connection. An answer
    /// that is one JSON value instead of a stream counts as one event without a type.
    fn read_stream_event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError>;

    /// The stream ended, or the connection is lost. Writes the remaining deltas, [`Delta::Done`] last,
    /// or returns an error if the answer is incomplete.
    fn finish_stream(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError>;
}
