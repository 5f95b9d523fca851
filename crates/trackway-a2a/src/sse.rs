//! Server-sent events: the frames, the heartbeat, and the pace of the reader.

use std::{convert::Infallible, io::Write, time::Duration};

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use futures_util::{FutureExt, stream};
use tokio::time::{Instant, timeout_at};

use crate::{
    fault::Fault,
    ops::{Follow, Item, Place},
};

/// Events that are ready at once share one chunk up to this size: enough to make a long replay cheap. The
/// connection keeps up to sixteen chunks for a reader that does not take them, and writes them at once for
/// one that does.
/// Limit (A2A): events that share one chunk of a stream.
const CHUNK_BYTES: usize = 8 * 1024;

/// A comment: clients skip it, proxies see traffic.
const HEARTBEAT: &[u8] = b":\n\n";

/// Answers with the stream. `encode` writes the data of one event: an item, or the fault that ends
/// the stream. The body pulls, so a reader that stops reading stops everything behind it.
pub(crate) fn response<E>(follow: Follow, heartbeat: Duration, encode: E) -> Response
where
    E: Fn(&mut Vec<u8>, &Place, Result<&Item, &Fault>) + Send + 'static,
{
    let frames = Frames { follow, heartbeat, encode, ended: false };
    let body = stream::unfold(frames, |mut frames| async {
        let chunk = frames.chunk().await?;
        Some((Ok::<_, Infallible>(chunk), frames))
    });
    streamed(Body::from_stream(body))
}

/// A stream of one event.
pub(crate) fn once(encode: impl FnOnce(&mut Vec<u8>)) -> Response {
    let mut out = b"data: ".to_vec();
    encode(&mut out);
    out.extend_from_slice(b"\n\n");
    streamed(Body::from(out))
}

fn streamed(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Tells nginx and its kind not to collect the stream before passing it on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Frames<E> {
    follow: Follow,
    heartbeat: Duration,
    encode: E,
    ended: bool,
}

impl<E: Fn(&mut Vec<u8>, &Place, Result<&Item, &Fault>)> Frames<E> {
    /// The next bytes to send; `None` at the end.
    async fn chunk(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        let patience = Instant::now() + self.heartbeat;
        let Ok(next) = timeout_at(patience, self.follow.next()).await else {
            return Some(Bytes::from_static(HEARTBEAT));
        };
        let mut out = Vec::new();
        self.write(&mut out, next);
        while !self.ended && out.len() < CHUNK_BYTES {
            let Some(next) = self.follow.next().now_or_never() else {
                break;
            };
            self.write(&mut out, next);
        }
        (!out.is_empty()).then(|| out.into())
    }

    fn write(&mut self, out: &mut Vec<u8>, next: Result<Option<Item>, Fault>) {
        match next {
            Ok(Some(item)) => {
                // Writing to memory cannot fail.
                let _ = write!(out, "id: {}\ndata: ", item.pos);
                (self.encode)(out, &self.follow.place, Ok(&item));
                out.extend_from_slice(b"\n\n");
            }
            Ok(None) => self.ended = true,
            Err(fault) => {
                // No id: whoever comes back goes on after the last event that it saw.
                self.ended = true;
                out.extend_from_slice(b"data: ");
                (self.encode)(out, &self.follow.place, Err(&fault));
                out.extend_from_slice(b"\n\n");
            }
        }
    }
}
