//! The chunks that a stream hands to a connection, and their sizes.

use std::{collections::VecDeque, convert::Infallible};

use futures_util::StreamExt as _;
use trackway_domain::RunId;

use super::shared_frame_cache::PIECE_BYTES_MAX;
use super::*;

const RUN: &str = "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b";

/// Events of these sizes, each a line of one letter.
struct FakeSource {
    sizes: VecDeque<usize>,
    next: Position,
    /// How often an event was fetched again.
    again: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    last: usize,
    run: RunId,
}

impl FakeSource {
    fn with_sizes(sizes: &[usize]) -> Self {
        let (next, again, last) = (0, Default::default(), 0);
        Self { sizes: sizes.iter().copied().collect(), next, again, last, run: RUN.parse().unwrap() }
    }
}

impl SseEventSource for FakeSource {
    type Item = (Position, usize);
    type Error = Infallible;

    async fn next_event(&mut self) -> Result<Option<Self::Item>, Infallible> {
        let Some(size) = self.sizes.pop_front() else { return Ok(None) };
        (self.next, self.last) = (self.next + 1, size);
        Ok(Some((self.next, size)))
    }

    async fn repeat_last_event(&mut self) -> Result<Option<Self::Item>, Infallible> {
        self.again.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(Some((self.next, self.last)))
    }

    fn describe_event(&self, (pos, bytes): &Self::Item) -> SseEventInfo {
        let scope = FrameContentKind::Event;
        let key = FrameKey { run: self.run, pos: *pos, dialect: "test", scope };
        SseEventInfo { pos: *pos, bytes: *bytes, key }
    }

    fn event_envelope(&self) -> (&[u8], &[u8]) {
        (b"<", b">")
    }

    fn encode_event_data(&self, (pos, bytes): &Self::Item, out: &mut Vec<u8>) {
        let letter = b'a' + u8::try_from(*pos).unwrap();
        out.extend(std::iter::repeat_n(letter, *bytes));
    }

    async fn closing_frame(&mut self, _end: Result<(), Infallible>) -> Vec<u8> {
        b"data: over\n\n".to_vec()
    }
}

fn body(feed: FakeSource, frames: &SharedFrameCache) -> axum::body::BodyDataStream {
    sse_stream_response(feed, frames.clone(), Duration::from_secs(15)).into_body().into_data_stream()
}

const MIB: usize = 1024 * 1024;

/// The bytes that every reader of these events gets.
fn expected(sizes: &[usize]) -> String {
    let event = |(index, size): (usize, &usize)| {
        let letter = char::from(b'b' + u8::try_from(index).unwrap());
        format!("id: {}\ndata: <{}>\n\n", index + 1, letter.to_string().repeat(*size))
    };
    let events: String = sizes.iter().enumerate().map(event).collect();
    events + "data: over\n\n"
}

/// Issue 11, S-L6: large events come in small pieces that are copies, so the memory of a connection does not
/// depend on the size of an event. The pieces together equal the whole event.
#[tokio::test]
async fn no_chunk_is_larger_than_a_piece() {
    let sizes = [10, 3 * MIB, 20, WHOLE_BYTES_MAX, WHOLE_BYTES_MAX + 1, 30];
    let frames = SharedFrameCache::default();
    let mut stream = body(FakeSource::with_sizes(&sizes), &frames);
    let mut whole = Vec::new();
    let largest = CHUNK_BYTES + WHOLE_BYTES_MAX + 100;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.unwrap();
        assert!(chunk.len() <= largest, "{}", chunk.len());
        assert!(frames.total_frame_bytes() <= 3 * MIB);
        whole.extend(chunk);
    }
    assert_eq!(String::from_utf8(whole).unwrap(), expected(&sizes));
    assert_eq!(frames.total_frame_bytes(), 0, "nothing is kept for a reader who has it");
}

/// Issue 11, S-L6: three hundred readers that stop in the middle of an event of 4 MB cost one copy of it,
/// and each reader costs only the chunks that its connection has buffered.
#[tokio::test]
async fn readers_who_stop_cost_one_frame_together() {
    const TAKEN: usize = 16;
    let frames = SharedFrameCache::default();
    let mut stopped = Vec::new();
    let mut taken = 0;
    for _ in 0..300 {
        let mut stream = body(FakeSource::with_sizes(&[4 * MIB]), &frames);
        for _ in 0..TAKEN {
            taken += stream.next().await.unwrap().unwrap().len();
        }
        stopped.push(stream);
    }
    assert_eq!(frames.total_frame_bytes(), 4 * MIB);
    assert!(taken <= 300 * TAKEN * PIECE_BYTES_MAX, "{taken}");
    drop(stopped);
    assert_eq!(frames.total_frame_bytes(), 0);
}

/// Issue 11, S-L6: a reader whose frame was removed still gets the whole event.
#[tokio::test]
async fn a_reader_goes_on_where_its_event_had_to_make_room() {
    let frames = SharedFrameCache::default();
    let slow = FakeSource::with_sizes(&[4 * MIB, 5]);
    let again = slow.again.clone();
    let mut slow = body(slow, &frames);
    let mut whole: Vec<u8> = Vec::new();
    for _ in 0..3 {
        whole.extend(slow.next().await.unwrap().unwrap());
    }
    let mut others = Vec::new();
    for number in 0..30 {
        let mut sizes = FakeSource::with_sizes(&[4 * MIB]);
        sizes.next = 1 + number % 20;
        let mut other = body(sizes, &frames);
        other.next().await.unwrap().unwrap();
        others.push(other);
    }
    while let Some(chunk) = slow.next().await {
        whole.extend(chunk.unwrap());
    }
    assert_eq!(again.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!(String::from_utf8(whole).unwrap(), expected(&[4 * MIB, 5]));
}
