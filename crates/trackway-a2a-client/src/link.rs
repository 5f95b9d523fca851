//! One connection that carries events.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use tokio::time::Instant;
use trackway_outgoing::sse::{Event, Parser};

use super::ClientError;

/// Largest event, and therefore largest line. A Task with all its artifacts is one event. Documents of
/// ten megabytes in base64 occur, also several in one task.
/// Limit (A2A): one event of a stream that our client reads.
pub(super) const EVENT_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Link {
    response: Response,
    parser: Parser,
    /// Received but not yet parsed: at most the result of one read.
    received: Bytes,
    opened: Instant,
    /// Whether anything arrived, even if only a comment.
    heard: bool,
    pub(super) shown: Shown,
}

/// The items that a connection has delivered so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Nothing,
    Updates,
    /// The Task itself: the agent restarted the stream and did not continue after the last event of
    /// another connection.
    Snapshot,
}

#[derive(Debug)]
pub(super) enum Received {
    Event(Event),
    /// The agent ended the stream properly.
    End,
    /// The connection broke, or nothing arrived for too long.
    Broken(ClientError),
    /// The received data cannot be parsed.
    Unreadable(ClientError),
}

impl Link {
    /// `last_id`: the id of the last event before this connection.
    pub(super) fn new(response: Response, last_id: Option<String>) -> Self {
        Self {
            response,
            parser: Parser::after(last_id, EVENT_BYTES_MAX),
            received: Bytes::new(),
            opened: Instant::now(),
            heard: false,
            shown: Shown::Nothing,
        }
    }

    /// Whether the connection worked: it delivered something, and lasted.
    pub(super) fn held(&self, steady: Duration) -> bool {
        self.heard && self.opened.elapsed() >= steady
    }

    /// The next event. Dropping the future loses nothing.
    pub(super) async fn receive(&mut self, silence: Duration) -> Received {
        loop {
            match self.parser.next(&mut self.received) {
                Ok(Some(event)) => return Received::Event(event),
                Ok(None) => {}
                Err(bad) => return Received::Unreadable(ClientError::malformed(bad)),
            }
            match tokio::time::timeout(silence, self.response.chunk()).await {
                Ok(Ok(Some(chunk))) => (self.received, self.heard) = (chunk, true),
                Ok(Ok(None)) => return Received::End,
                Ok(Err(source)) => {
                    let doing = "reading the stream";
                    return Received::Broken(ClientError::Transport { doing, source });
                }
                Err(_) => return Received::Broken(ClientError::Timeout { after: silence }),
            }
        }
    }
}
