//! What the server sends: a status, headers, and a script of bytes, waits and an end.

use serde_json::{Value, json};

use super::Latch;

/// One answer. Each piece of bytes is its own chunk, wherever it is cut.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) acts: Vec<Act>,
    pub(super) end: End,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Send(Vec<u8>),
    Wait(Latch),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The answer ends as HTTP requires.
    Proper,
    /// The connection breaks in the middle of the answer.
    Cut,
    /// The connection breaks before the status.
    Hang,
    /// Nothing more is sent, and the connection stays open.
    Silence,
}

impl Reply {
    /// An empty stream of events.
    pub fn stream() -> Self {
        Self::new(200, "text/event-stream")
    }

    /// One JSON value.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json").send(body.to_string())
    }

    /// An error in OpenAI's format.
    pub fn refusal(status: u16, message: &str) -> Self {
        Self::json(status, &json!({"error": {"message": message}}))
    }

    /// Closes the connection without an answer.
    pub fn hang() -> Self {
        Self { end: End::Hang, ..Self::stream() }
    }

    fn new(status: u16, content_type: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, acts: Vec::new(), end: End::Proper }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(key, _)| key != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends these bytes as one chunk.
    #[must_use]
    pub fn send(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.acts.push(Act::Send(bytes.into()));
        self
    }

    /// Sends an event with this data.
    #[must_use]
    pub fn data(self, data: impl std::fmt::Display) -> Self {
        self.send(format!("data: {data}\n\n"))
    }

    /// Sends an event with a type.
    #[must_use]
    pub fn event(self, kind: &str, data: &Value) -> Self {
        self.send(format!("event: {kind}\ndata: {data}\n\n"))
    }

    /// Waits until the latch is released.
    #[must_use]
    pub fn wait(mut self, latch: &Latch) -> Self {
        self.acts.push(Act::Wait(latch.clone()));
        self
    }

    /// Waits before anything is sent, the status included.
    #[must_use]
    pub fn wait_first(mut self, latch: &Latch) -> Self {
        self.acts.insert(0, Act::Wait(latch.clone()));
        self
    }

    /// Breaks the connection after the bytes so far.
    #[must_use]
    pub fn cut(self) -> Self {
        Self { end: End::Cut, ..self }
    }

    /// Keeps the connection open after the bytes so far, and sends nothing more.
    #[must_use]
    pub fn stay(self) -> Self {
        Self { end: End::Silence, ..self }
    }

    /// The same bytes, each in its own chunk: this cuts inside every character of several bytes.
    #[must_use]
    pub fn bytewise(mut self) -> Self {
        let acts = std::mem::take(&mut self.acts);
        self.acts = acts.into_iter().flat_map(Act::bytewise).collect();
        self
    }
}

impl Act {
    fn bytewise(self) -> Vec<Self> {
        match self {
            Self::Send(bytes) => bytes.into_iter().map(|byte| Self::Send(vec![byte])).collect(),
            wait @ Self::Wait(_) => vec![wait],
        }
    }
}
