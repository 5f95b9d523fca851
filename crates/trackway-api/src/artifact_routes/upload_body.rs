//! The body of an upload: any bytes, up to the limit of an artifact.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, header},
};
use futures_util::StreamExt as _;
use trackway_domain::ErrorCode;
use trackway_http::HttpError;

/// How much of a body above the limit is read and dropped before the refusal is sent, as a multiple of the
/// limit. Many clients read an answer only after they have sent everything.
/// Limit (HTTP): size up to which an artifact above the limit is read and dropped, as a multiple of it.
const DRAIN_FACTOR: usize = 2;

/// The same for a small limit: as much as the other routes read of a body above theirs, with room.
/// Limit (HTTP): size up to which an artifact above a small limit is read and dropped.
const DRAINED_BYTES_MIN: usize = 32 * 1024 * 1024;

/// The whole body, or the refusal. At no time more than the limit is in memory.
pub(super) async fn read_upload(
    headers: &HeaderMap,
    body: Body,
    bytes_max: usize,
) -> Result<Bytes, HttpError> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let drained_max = bytes_max.saturating_mul(DRAIN_FACTOR).max(DRAINED_BYTES_MIN);
    // The client waits for an interim response before it sends the body, or would send more than is drained.
    if length > bytes_max && (headers.contains_key(header::EXPECT) || length > drained_max) {
        return Err(upload_too_large_error(bytes_max));
    }
    let mut chunks = body.into_data_stream();
    let mut joined: Vec<u8> = Vec::new();
    let mut total = 0_usize;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| {
            HttpError::new(ErrorCode::InvalidRequest, "the body ended before it was complete")
                .with_hint("send it again; with the same Idempotency-Key it is stored once")
        })?;
        total = total.saturating_add(chunk.len());
        if total <= bytes_max {
            joined.extend_from_slice(&chunk);
        } else {
            joined = Vec::new();
            if total > drained_max {
                break;
            }
        }
    }
    if total > bytes_max { Err(upload_too_large_error(bytes_max)) } else { Ok(joined.into()) }
}

fn upload_too_large_error(bytes_max: usize) -> HttpError {
    let detail = format!("an artifact may have {bytes_max} bytes");
    HttpError::new(ErrorCode::TooLarge, detail).with_hint("`[artifacts] max_bytes` sets the limit")
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    /// Bodies around the limit, in one piece and byte by byte, with and without their length.
    #[tokio::test]
    async fn only_bodies_within_the_limit_are_taken() {
        for (size, is_taken) in [(0, true), (4, true), (5, false), (8, false), (9, false), (400, false)] {
            let bytes = vec![b'x'; size];
            let pieces = bytes.clone().into_iter().map(|byte| Ok::<_, std::io::Error>(vec![byte]));
            let length = HeaderMap::from_iter([(header::CONTENT_LENGTH, size.into())]);
            for (headers, body) in [
                (length, Body::from(bytes.clone())),
                (HeaderMap::new(), Body::from_stream(stream::iter(pieces))),
            ] {
                let read = read_upload(&headers, body, 4).await;
                assert_eq!(read.is_ok(), is_taken, "{size} bytes: {read:?}");
                assert!(read.is_err() || read.unwrap() == bytes);
            }
        }
    }
}
