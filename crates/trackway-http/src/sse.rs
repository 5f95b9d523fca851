//! Server-sent events: the frames, the heartbeat, and the pace of the reader.

mod shared_frame_cache;

use std::{fmt, io, io::Write, time::Duration};

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use futures_util::{FutureExt, stream};
use tokio::time::{Instant, timeout_at};
use trackway_domain::Position;

use self::shared_frame_cache::FrameSendCursor;
pub use self::shared_frame_cache::{FrameContentKind, FrameKey, SharedFrameCache, WHOLE_BYTES_MAX};

/// Events that are ready at once share one chunk up to this size: enough to make a long replay cheap. The
/// connection buffers up to sixteen chunks for a reader that does not read.
/// Limit (HTTP): events that share one chunk of a stream.
const CHUNK_BYTES: usize = 8 * 1024;

/// A comment: clients skip it, proxies see traffic.
const HEARTBEAT: &[u8] = b":\n\n";

/// The source of a stream, one event at a time.
pub trait SseEventSource: Send + 'static {
    /// An event that is not encoded yet.
    type Item: Send + Sync;
    type Error: fmt::Debug + Send;

    /// The next event, or none at the end. Dropping the future loses nothing.
    fn next_event(&mut self) -> impl Future<Output = Result<Option<Self::Item>, Self::Error>> + Send;

    /// The last event again.
    fn repeat_last_event(&mut self) -> impl Future<Output = Result<Option<Self::Item>, Self::Error>> + Send;

    fn describe_event(&self, item: &Self::Item) -> SseEventInfo;

    /// Bytes before and after the encoded event, for this reader only.
    fn event_envelope(&self) -> (&[u8], &[u8]) {
        (b"", b"")
    }

    /// Appends the data of an event, which is one line. It is the same for all readers with the same key.
    fn encode_event_data(&self, item: &Self::Item, out: &mut Vec<u8>);

    /// The frame after the last event, complete with its empty line. It has no id: a reader that
    /// reconnects continues after the last event that it received.
    fn closing_frame(&mut self, end: Result<(), Self::Error>) -> impl Future<Output = Vec<u8>> + Send;
}

/// What is known about an event before it is encoded.
#[derive(Debug, Clone, Copy)]
pub struct SseEventInfo {
    /// A reader that reconnects continues after this position.
    pub pos: Position,
    /// Its approximate size in bytes.
    pub bytes: usize,
    pub key: FrameKey,
}

/// Answers with the stream. The body pulls, so a reader that stops reading stops everything behind it.
pub fn sse_stream_response(
    source: impl SseEventSource,
    frames: SharedFrameCache,
    heartbeat: Duration,
) -> Response {
    let events = SseBody { feed: source, frames, heartbeat, sending: None, ended: false };
    let body = stream::unfold(events, |mut events| async {
        let chunk = events.next_body_chunk().await?;
        Some((chunk, events))
    });
    event_stream_response(Body::from_stream(body))
}

/// A stream of one event.
pub fn single_sse_event_response(encode: impl FnOnce(&mut Vec<u8>)) -> Response {
    let mut out = b"data: ".to_vec();
    encode(&mut out);
    out.extend_from_slice(b"\n\n");
    event_stream_response(Body::from(out))
}

fn event_stream_response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Tells nginx and similar proxies not to buffer the stream.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct SseBody<F> {
    feed: F,
    frames: SharedFrameCache,
    heartbeat: Duration,
    /// A large event that is partly sent.
    sending: Option<FrameSendCursor>,
    ended: bool,
}

impl<F: SseEventSource> SseBody<F> {
    /// The next bytes to send; `None` at the end. An error cuts the stream in the middle of an event, and
    /// the reader then discards that event.
    async fn next_body_chunk(&mut self) -> Option<io::Result<Bytes>> {
        if let Some(sending) = self.sending.take() {
            return Some(self.next_large_event_piece(sending).await.map(Bytes::from));
        }
        if self.ended {
            return None;
        }
        let patience = Instant::now() + self.heartbeat;
        let Ok(next) = timeout_at(patience, self.feed.next_event()).await else {
            return Some(Ok(Bytes::from_static(HEARTBEAT)));
        };
        let mut out = Vec::new();
        self.write_next_event(&mut out, next).await;
        while !self.ended && self.sending.is_none() && out.len() < CHUNK_BYTES {
            let Some(next) = self.feed.next_event().now_or_never() else {
                break;
            };
            self.write_next_event(&mut out, next).await;
        }
        (!out.is_empty()).then(|| Ok(out.into()))
    }

    async fn write_next_event(&mut self, out: &mut Vec<u8>, next: Result<Option<F::Item>, F::Error>) {
        let end = match next {
            Ok(Some(item)) => return self.write_sse_event(out, &item),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        self.ended = true;
        out.extend(self.feed.closing_frame(end).await);
    }

    /// Appends an event. For a large event it appends only the beginning, and the rest follows in pieces.
    fn write_sse_event(&mut self, out: &mut Vec<u8>, item: &F::Item) {
        let SseEventInfo { pos, bytes, key } = self.feed.describe_event(item);
        let (before, after) = self.feed.event_envelope();
        // Writing to memory cannot fail.
        let _ = write!(out, "id: {pos}\ndata: ");
        out.extend_from_slice(before);
        if bytes > WHOLE_BYTES_MAX {
            self.sending = Some(self.frames.start_sending_frame(key, || self.encode_event_item(item, bytes)));
            return;
        }
        self.feed.encode_event_data(item, out);
        out.extend_from_slice(after);
        out.extend_from_slice(b"\n\n");
    }

    fn encode_event_item(&self, item: &F::Item, size_hint: usize) -> Vec<u8> {
        let mut encoded = Vec::with_capacity(size_hint);
        self.feed.encode_event_data(item, &mut encoded);
        encoded
    }

    /// The next piece of a large event.
    async fn next_large_event_piece(&mut self, mut sending: FrameSendCursor) -> io::Result<Vec<u8>> {
        let mut piece = match sending.next_frame_piece() {
            Some(piece) => piece,
            None => self.reencode_last_frame(&mut sending).await?,
        };
        if sending.is_fully_sent() {
            piece.extend_from_slice(self.feed.event_envelope().1);
            piece.extend_from_slice(b"\n\n");
        } else {
            self.sending = Some(sending);
        }
        Ok(piece)
    }

    async fn reencode_last_frame(&mut self, sending: &mut FrameSendCursor) -> io::Result<Vec<u8>> {
        let again = self.feed.repeat_last_event().await.map_err(|error| incomplete_event_error(&error))?;
        let item = again.ok_or_else(|| incomplete_event_error(&"it is gone"))?;
        let bytes = self.feed.describe_event(&item).bytes;
        sending
            .restore_evicted_frame(self.encode_event_item(&item, bytes))
            .ok_or_else(|| incomplete_event_error(&"it has changed"))
    }
}

fn incomplete_event_error(reason: &dyn fmt::Debug) -> io::Error {
    tracing::warn!(?reason, "a large event could not be sent to its end");
    io::Error::other("the event could not be sent to its end")
}

#[cfg(test)]
mod tests;
