//! The common interface of provider formats: one builds a request, one reads a stream. Both are pure;
//! `http` exchanges them with a server.

use std::{fmt, time::Duration};

use serde_json::Value;

use super::{Delta, ModelError, wire::complaint};
use crate::conversation::Request;

/// How one family of servers expects requests and sends answers.
pub(crate) trait Format: Send + Sync + fmt::Debug {
    /// The path after the base address, with its query.
    fn path(&self, model: &str) -> String;

    /// The header that carries the key, and its value.
    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    /// Additional headers of every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn body(&self, model: &str, request: &Request) -> Value;

    /// Optional fields of the body. A field that a server rejects by name is omitted from then on.
    fn dispensable(&self) -> &'static [&'static str] {
        &[]
    }

    fn reader(&self) -> Box<dyn Reader>;

    /// The message of an error body, if it has the format's own form.
    fn complaint(&self, body: &Value) -> Option<String> {
        complaint(body)
    }

    /// The wait that an error body asks for, for servers that have no header for it.
    fn patience(&self, _body: &Value) -> Option<Duration> {
        None
    }
}

/// Reads the events of one answer.
pub(crate) trait Reader: Send {
    /// One event of the stream: its type (empty if it has none) and its data. Nothing is read after an
    /// event that writes [`Delta::Done`], because not every server closes the connection. An answer
    /// that is one JSON value instead of a stream counts as one event without a type.
    fn event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError>;

    /// The stream ended, or the connection is lost. Writes the remaining deltas, [`Delta::Done`] last,
    /// or returns an error if the answer is incomplete.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError>;
}
