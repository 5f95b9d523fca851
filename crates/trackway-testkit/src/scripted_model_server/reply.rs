//! What the server sends: a status, headers, and a script of bytes, waits and an end.

use serde_json::{Value, json};

use super::ScriptLatch;

/// One answer. Each piece of bytes is its own chunk, wherever it is cut.
#[derive(Debug, Clone)]
pub struct ScriptedReply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<ReplyStep>,
    pub(super) end: ReplyEnd,
}

#[derive(Debug, Clone)]
pub(super) enum ReplyStep {
    Send(Vec<u8>),
    Wait(ScriptLatch),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyEnd {
    /// The answer ends as HTTP requires.
    Proper,
    /// The connection breaks in the middle of the answer.
    Cut,
    /// The connection breaks before the status.
    Hang,
    /// Nothing more is sent, and the connection stays open.
    Silence,
}

impl ScriptedReply {
    /// An empty stream of events.
    pub fn event_stream() -> Self {
        Self::new(200, "text/event-stream")
    }

    /// One JSON value.
    pub fn json_body(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json").send_bytes(body.to_string())
    }

    /// An error in OpenAI's format.
    pub fn error_body(status: u16, message: &str) -> Self {
        Self::json_body(status, &json!({"error": {"message": message}}))
    }

    /// Closes the connection without an answer.
    pub fn closed_without_status() -> Self {
        Self { end: ReplyEnd::Hang, ..Self::event_stream() }
    }

    fn new(status: u16, content_type: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, steps: Vec::new(), end: ReplyEnd::Proper }
    }

    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(key, _)| key != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends these bytes as one chunk.
    #[must_use]
    pub fn send_bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push(ReplyStep::Send(bytes.into()));
        self
    }

    /// Sends an event with this data.
    #[must_use]
    pub fn send_data_event(self, data: impl std::fmt::Display) -> Self {
        self.send_bytes(format!("data: {data}\n\n"))
    }

    /// Sends an event with a type.
    #[must_use]
    pub fn send_typed_event(self, kind: &str, data: &Value) -> Self {
        self.send_bytes(format!("event: {kind}\ndata: {data}\n\n"))
    }

    /// Waits until the latch is released.
    #[must_use]
    pub fn wait_for_latch(mut self, latch: &ScriptLatch) -> Self {
        self.steps.push(ReplyStep::Wait(latch.clone()));
        self
    }

    /// Waits before anything is sent, the status included.
    #[must_use]
    pub fn wait_before_status(mut self, latch: &ScriptLatch) -> Self {
        self.steps.insert(0, ReplyStep::Wait(latch.clone()));
        self
    }

    /// Breaks the connection after the bytes so far.
    #[must_use]
    pub fn cut_connection(self) -> Self {
        Self { end: ReplyEnd::Cut, ..self }
    }

    /// Keeps the connection open after the bytes so far, and sends nothing more.
    #[must_use]
    pub fn keep_open_silently(self) -> Self {
        Self { end: ReplyEnd::Silence, ..self }
    }

    /// The same bytes, each in its own chunk: this cuts inside every character of several bytes.
    #[must_use]
    pub fn one_byte_per_chunk(mut self) -> Self {
        let acts = std::mem::take(&mut self.steps);
        self.steps = acts.into_iter().flat_map(ReplyStep::split_into_bytes).collect();
        self
    }
}

impl ReplyStep {
    fn split_into_bytes(self) -> Vec<Self> {
        match self {
            Self::Send(bytes) => bytes.into_iter().map(|byte| Self::Send(vec![byte])).collect(),
            wait @ Self::Wait(_) => vec![wait],
        }
    }
}
