//! What the formats of providers have in common: a request that is made, and a stream that is read.
//! Both are pure; `http` brings them to a server and back.

use std::{fmt, time::Duration};

use serde_json::Value;

use super::{Delta, ModelError, wire::complaint};
use crate::conversation::Request;

/// How one family of servers wants to be asked, and how it answers.
pub(crate) trait Format: Send + Sync + fmt::Debug {
    /// The path behind the base address, with its query.
    fn path(&self, model: &str) -> String;

    /// The header that carries the key, and its value.
    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    /// Headers that every request has beside it.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn body(&self, model: &str, request: &Request) -> Value;

    /// Fields of the body that an answer is as good without. One that a server refuses by its name is
    /// left out from then on.
    fn dispensable(&self) -> &'static [&'static str] {
        &[]
    }

    fn reader(&self) -> Box<dyn Reader>;

    /// What an error body says, where it is in the format's own form.
    fn complaint(&self, body: &Value) -> Option<String> {
        complaint(body)
    }

    /// How long an error body asks to be left alone, for servers that have no header for it.
    fn patience(&self, _body: &Value) -> Option<Duration> {
        None
    }
}

/// Reads the events of one answer.
pub(crate) trait Reader: Send {
    /// One event of the stream: its type, empty where it has none, and its data. Nothing is read after
    /// an event that writes [`Delta::Done`]; not every server closes the connection. An answer that
    /// comes as one JSON value instead of a stream is one event without a type.
    fn event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError>;

    /// The stream is over, or the connection is lost. Writes what is still owed, [`Delta::Done`] last,
    /// or says that the answer is not whole.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError>;
}
