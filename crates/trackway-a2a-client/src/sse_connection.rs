//! One connection that carries events.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use tokio::time::Instant;
use trackway_outgoing::sse::{SseEvent, SseParser};

use super::{ClientError, TransportResponse};

/// Largest event, and therefore largest line. A Task with all its artifacts is one event. Documents of
/// ten megabytes in base64 occur, also several in one task.
/// Limit (A2A): one event of a stream that our client reads.
pub(super) const EVENT_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct SseConnection {
    response: TransportResponse,
    parser: SseParser,
    /// Received but not yet parsed: at most the result of one read.
    received: Bytes,
    opened: Instant,
    /// Whether anything arrived, even if only a comment.
    has_received: bool,
    pub(super) received_so_far: ReceivedSoFar,
}

/// The items that a connection has delivered so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReceivedSoFar {
    Nothing,
    Updates,
    /// The Task itself: the agent restarted the stream and did not continue after the last event of
    /// another connection.
    Snapshot,
}

#[derive(Debug)]
pub(super) enum ReceiveOutcome {
    Event(SseEvent),
    /// The agent ended the stream properly.
    End,
    /// The connection broke, or nothing arrived for too long.
    Broken(ClientError),
    /// The received data cannot be parsed.
    Malformed(ClientError),
}

impl SseConnection {
    /// `last_id`: the id of the last event before this connection.
    pub(super) fn new(response: TransportResponse, last_id: Option<String>) -> Self {
        Self {
            response,
            parser: SseParser::resume_after_event_id(last_id, EVENT_BYTES_MAX),
            received: Bytes::new(),
            opened: Instant::now(),
            has_received: false,
            received_so_far: ReceivedSoFar::Nothing,
        }
    }

    /// Whether the connection worked: it delivered something, and lasted.
    pub(super) fn was_steady_for(&self, min_duration: Duration) -> bool {
        self.has_received && self.opened.elapsed() >= min_duration
    }

    /// The next event. Dropping the future loses nothing.
    pub(super) async fn receive_sse_event(&mut self, silence_max: Duration) -> ReceiveOutcome {
        loop {
            match self.parser.next_event(&mut self.received) {
                Ok(Some(event)) => return ReceiveOutcome::Event(event),
                Ok(None) => {}
                Err(bad) => return ReceiveOutcome::Malformed(ClientError::malformed_response_error(bad)),
            }
            match tokio::time::timeout(silence_max, self.response.body.next()).await {
                Ok(Some(Ok(chunk))) => (self.received, self.has_received) = (chunk, true),
                Ok(None) => return ReceiveOutcome::End,
                Ok(Some(Err(error))) => {
                    let error = ClientError::from_transport_error("reading the stream", error);
                    return ReceiveOutcome::Broken(error);
                }
                Err(_) => return ReceiveOutcome::Broken(ClientError::Timeout { after: silence_max }),
            }
        }
    }
}
