//! Shared frames, and how many bytes they take.

use super::*;

const RUN: &str = "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b";
const MIB: usize = 1024 * 1024;

fn frame_key(pos: Position) -> FrameKey {
    let run = RUN.parse().unwrap();
    FrameKey { run, pos, dialect: "test", scope: FrameContentKind::Event }
}

fn remaining_bytes(sending: &mut FrameSendCursor) -> usize {
    let mut bytes = 0;
    while !sending.is_fully_sent() {
        let piece = sending.next_frame_piece().unwrap();
        assert!(piece.len() <= PIECE_BYTES_MAX);
        bytes += piece.len();
    }
    bytes
}

/// Issue 11, S-L6: a frame is encoded and kept once, however many readers use it, and is removed with the
/// last reader.
#[test]
fn readers_share_a_frame() {
    let frames = SharedFrameCache::default();
    let mut encoded = 0;
    let mut readers: Vec<FrameSendCursor> = (0..300)
        .map(|_| {
            frames.start_sending_frame(frame_key(1), || {
                encoded += 1;
                vec![7; 4 * MIB]
            })
        })
        .collect();
    assert_eq!((encoded, frames.total_frame_bytes()), (1, 4 * MIB));
    for reader in &mut readers {
        assert_eq!(remaining_bytes(reader), 4 * MIB);
    }
    readers.truncate(1);
    assert_eq!(frames.total_frame_bytes(), 4 * MIB);
    readers.clear();
    assert_eq!(frames.total_frame_bytes(), 0);
}

/// Issue 11, S-L6: all frames together have a bound. The least recently used frame is removed, and its
/// reader continues where it was once the frame is restored.
#[test]
fn frames_have_a_bound_in_bytes() {
    let frames = SharedFrameCache::default();
    let encode = || vec![7; 4 * MIB];
    let mut slow = frames.start_sending_frame(frame_key(0), encode);
    assert_eq!(slow.next_frame_piece().unwrap().len(), PIECE_BYTES_MAX);
    let _others: Vec<FrameSendCursor> = (1..40)
        .map(|pos| {
            let mut other = frames.start_sending_frame(frame_key(pos), encode);
            assert!(other.next_frame_piece().is_some());
            assert!(frames.total_frame_bytes() <= FRAMES_BYTES_MAX, "{}", frames.total_frame_bytes());
            other
        })
        .collect();
    assert_eq!(slow.next_frame_piece(), None, "it had to make room");
    assert_eq!(slow.restore_evicted_frame(vec![7; 4 * MIB - 1]), None, "something else");
    assert_eq!(slow.restore_evicted_frame(encode()).unwrap().len(), PIECE_BYTES_MAX);
    assert_eq!(2 * PIECE_BYTES_MAX + remaining_bytes(&mut slow), 4 * MIB);
    assert!(frames.total_frame_bytes() <= FRAMES_BYTES_MAX);
}

/// A frame that is larger than the bound is sent too.
#[test]
fn a_frame_beyond_the_bound_is_kept_alone() {
    let frames = SharedFrameCache::default();
    let _other = frames.start_sending_frame(frame_key(1), || vec![7; MIB]);
    let mut huge = frames.start_sending_frame(frame_key(2), || vec![7; FRAMES_BYTES_MAX + 1]);
    assert_eq!(frames.total_frame_bytes(), FRAMES_BYTES_MAX + 1);
    assert_eq!(remaining_bytes(&mut huge), FRAMES_BYTES_MAX + 1);
}

/// The answer to one message is not shared with other readers.
#[test]
fn replies_are_not_shared() {
    assert_ne!(FrameContentKind::unique_reply_frame(), FrameContentKind::unique_reply_frame());
}
