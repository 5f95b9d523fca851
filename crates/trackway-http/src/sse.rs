//! Server-sent events: the frames, the heartbeat, and the pace of the reader.

mod shared_frames;

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

use self::shared_frames::FrameCursor;
pub use self::shared_frames::{FrameKey, FrameScope, SharedFrames, WHOLE_BYTES_MAX};

/// Events that are ready at once share one chunk up to this size: enough to make a long replay cheap. The
/// connection buffers up to sixteen chunks for a reader that does not read.
/// Limit (HTTP): events that share one chunk of a stream.
const CHUNK_BYTES: usize = 8 * 1024;

/// A comment: clients skip it, proxies see traffic.
const HEARTBEAT: &[u8] = b":\n\n";

/// The source of a stream, one event at a time.
pub trait SseSource: Send + 'static {
    /// An event that is not encoded yet.
    type Item: Send + Sync;
    type Error: fmt::Debug + Send;

    /// The next event, or none at the end. Dropping the future loses nothing.
    fn next(&mut self) -> impl Future<Output = Result<Option<Self::Item>, Self::Error>> + Send;

    /// The last event again.
    fn repeat_last(&mut self) -> impl Future<Output = Result<Option<Self::Item>, Self::Error>> + Send;

    fn describe(&self, item: &Self::Item) -> SseEventInfo;

    /// Bytes before and after the encoded event, for this reader only.
    fn envelope(&self) -> (&[u8], &[u8]) {
        (b"", b"")
    }

    /// Appends the data of an event, which is one line. It is the same for all readers with the same key.
    fn encode(&self, item: &Self::Item, out: &mut Vec<u8>);

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
pub fn stream_response(feed: impl SseSource, frames: SharedFrames, heartbeat: Duration) -> Response {
    let events = SseBody { feed, frames, heartbeat, sending: None, ended: false };
    let body = stream::unfold(events, |mut events| async {
        let chunk = events.next_chunk().await?;
        Some((chunk, events))
    });
    event_stream_response(Body::from_stream(body))
}

/// A stream of one event.
pub fn single_event_response(encode: impl FnOnce(&mut Vec<u8>)) -> Response {
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
    frames: SharedFrames,
    heartbeat: Duration,
    /// A large event that is partly sent.
    sending: Option<FrameCursor>,
    ended: bool,
}

impl<F: SseSource> SseBody<F> {
    /// The next bytes to send; `None` at the end. An error cuts the stream in the middle of an event, and
    /// the reader then discards that event.
    async fn next_chunk(&mut self) -> Option<io::Result<Bytes>> {
        if let Some(sending) = self.sending.take() {
            return Some(self.next_piece(sending).await.map(Bytes::from));
        }
        if self.ended {
            return None;
        }
        let patience = Instant::now() + self.heartbeat;
        let Ok(next) = timeout_at(patience, self.feed.next()).await else {
            return Some(Ok(Bytes::from_static(HEARTBEAT)));
        };
        let mut out = Vec::new();
        self.write_next(&mut out, next).await;
        while !self.ended && self.sending.is_none() && out.len() < CHUNK_BYTES {
            let Some(next) = self.feed.next().now_or_never() else {
                break;
            };
            self.write_next(&mut out, next).await;
        }
        (!out.is_empty()).then(|| Ok(out.into()))
    }

    async fn write_next(&mut self, out: &mut Vec<u8>, next: Result<Option<F::Item>, F::Error>) {
        let end = match next {
            Ok(Some(item)) => return self.write_event(out, &item),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        self.ended = true;
        out.extend(self.feed.closing_frame(end).await);
    }

    /// Appends an event. For a large event it appends only the beginning, and the rest follows in pieces.
    fn write_event(&mut self, out: &mut Vec<u8>, item: &F::Item) {
        let SseEventInfo { pos, bytes, key } = self.feed.describe(item);
        let (before, after) = self.feed.envelope();
        // Writing to memory cannot fail.
        let _ = write!(out, "id: {pos}\ndata: ");
        out.extend_from_slice(before);
        if bytes > WHOLE_BYTES_MAX {
            self.sending = Some(self.frames.start_sending(key, || self.encode_item(item, bytes)));
            return;
        }
        self.feed.encode(item, out);
        out.extend_from_slice(after);
        out.extend_from_slice(b"\n\n");
    }

    fn encode_item(&self, item: &F::Item, bytes: usize) -> Vec<u8> {
        let mut encoded = Vec::with_capacity(bytes);
        self.feed.encode(item, &mut encoded);
        encoded
    }

    /// The next piece of a large event.
    async fn next_piece(&mut self, mut sending: FrameCursor) -> io::Result<Vec<u8>> {
        let mut piece = match sending.next_piece() {
            Some(piece) => piece,
            None => self.restore_frame(&mut sending).await?,
        };
        if sending.is_done() {
            piece.extend_from_slice(self.feed.envelope().1);
            piece.extend_from_slice(b"\n\n");
        } else {
            self.sending = Some(sending);
        }
        Ok(piece)
    }

    async fn restore_frame(&mut self, sending: &mut FrameCursor) -> io::Result<Vec<u8>> {
        let again = self.feed.repeat_last().await.map_err(|error| incomplete_event_error(&error))?;
        let item = again.ok_or_else(|| incomplete_event_error(&"it is gone"))?;
        let bytes = self.feed.describe(&item).bytes;
        sending
            .restore_frame(self.encode_item(&item, bytes))
            .ok_or_else(|| incomplete_event_error(&"it has changed"))
    }
}

fn incomplete_event_error(reason: &dyn fmt::Debug) -> io::Error {
    tracing::warn!(?reason, "a large event could not be sent to its end");
    io::Error::other("the event could not be sent to its end")
}

#[cfg(test)]
mod tests;
