//! Encoded events that the readers of a server share.
//!
//! A large event is encoded once for all readers of the same form, and kept here while it is sent to any of
//! them. Each reader gets small pieces. If there are too many bytes, the least recently used frame is
//! removed, and a reader that still needs it encodes it again. So the memory for a slow reader does not grow
//! with the size of the event.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use trackway_domain::{Position, RunId};

/// Limit (HTTP): encoded bytes of large events that readers share.
///
/// Room for several of the largest events. An event that is larger than this is kept alone.
const FRAMES_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Limit (HTTP): size up to which an event is handed to a connection in one piece.
pub const WHOLE_BYTES_MAX: usize = 64 * 1024;

/// A connection buffers up to sixteen pieces for a reader that does not read: a quarter of a megabyte.
///
/// Limit (HTTP): piece of a larger event that is handed to a connection at a time.
pub(super) const PIECE_BYTES_MAX: usize = 16 * 1024;

/// The key of a frame: readers with the same key get the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameKey {
    pub run: RunId,
    pub pos: Position,
    /// The protocol that it is encoded for.
    pub dialect: &'static str,
    pub scope: FrameContentKind,
}

/// What a frame contains at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameContentKind {
    /// The event.
    Event,
    /// The run, with so many messages of its history.
    Run { history: usize },
    /// The run as the answer to one message. It is not shared.
    Reply { number: u64 },
}

impl FrameContentKind {
    /// A reply with a number that is unique in this process.
    pub fn unique_reply_frame() -> Self {
        static REPLIES: AtomicU64 = AtomicU64::new(0);
        Self::Reply { number: REPLIES.fetch_add(1, Ordering::Relaxed) }
    }
}

/// The frames of a server. Clones share the same table.
#[derive(Debug, Clone, Default)]
pub struct SharedFrameCache {
    /// A std mutex: it is held only for lookups.
    table: Arc<Mutex<FrameCacheTable>>,
}

#[derive(Debug, Default)]
struct FrameCacheTable {
    frames: HashMap<FrameKey, EncodedFrame>,
    bytes: usize,
    /// Counts uses, to find the least recently used frame.
    uses: u64,
}

#[derive(Debug)]
struct EncodedFrame {
    encoded: Bytes,
    readers: usize,
    used: u64,
}

impl FrameCacheTable {
    fn find_and_mark_used(&mut self, key: &FrameKey) -> Option<&mut EncodedFrame> {
        self.uses += 1;
        let frame = self.frames.get_mut(key)?;
        frame.used = self.uses;
        Some(frame)
    }

    fn insert_frame(&mut self, key: FrameKey, encoded: Bytes) {
        self.uses += 1;
        self.bytes += encoded.len();
        let frame = EncodedFrame { encoded, readers: 1, used: self.uses };
        if let Some(before) = self.frames.insert(key, frame) {
            self.bytes -= before.encoded.len();
        }
        while self.bytes > FRAMES_BYTES_MAX {
            let others = self.frames.iter().filter(|(other, _)| **other != key);
            let Some(oldest) = others.min_by_key(|(_, frame)| frame.used).map(|(key, _)| *key) else {
                break;
            };
            self.remove_frame(&oldest);
        }
    }

    fn remove_frame(&mut self, key: &FrameKey) {
        if let Some(frame) = self.frames.remove(key) {
            self.bytes -= frame.encoded.len();
        }
    }
}

impl SharedFrameCache {
    /// Begins to send a frame. It is encoded only if no other reader uses it.
    pub(super) fn start_sending_frame(
        &self,
        key: FrameKey,
        encode: impl FnOnce() -> Vec<u8>,
    ) -> FrameSendCursor {
        let known = self.lock_table().find_and_mark_used(&key).map(|frame| {
            frame.readers += 1;
            frame.encoded.len()
        });
        let len = known.unwrap_or_else(|| {
            let encoded = shrink_to_bytes(encode());
            let len = encoded.len();
            self.lock_table().insert_frame(key, encoded);
            len
        });
        FrameSendCursor { frames: self.clone(), key, sent: 0, len }
    }

    /// Bytes of all frames.
    #[cfg(test)]
    pub(super) fn total_frame_bytes(&self) -> usize {
        self.lock_table().bytes
    }

    fn lock_table(&self) -> MutexGuard<'_, FrameCacheTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes without unused capacity.
fn shrink_to_bytes(mut encoded: Vec<u8>) -> Bytes {
    encoded.shrink_to_fit();
    encoded.into()
}

/// The progress of one reader in a frame. It holds no bytes of the frame.
#[derive(Debug)]
pub(super) struct FrameSendCursor {
    frames: SharedFrameCache,
    key: FrameKey,
    sent: usize,
    len: usize,
}

impl FrameSendCursor {
    /// The next piece; none if the frame was removed and must be [restored](Self::restore_evicted_frame).
    pub(super) fn next_frame_piece(&mut self) -> Option<Vec<u8>> {
        let encoded = self.frames.lock_table().find_and_mark_used(&self.key)?.encoded.clone();
        (encoded.len() == self.len).then(|| self.take_next_piece(&encoded))
    }

    /// Restores the frame from a new encoding and returns the next piece. None if the encoding has changed.
    pub(super) fn restore_evicted_frame(&mut self, encoded: Vec<u8>) -> Option<Vec<u8>> {
        if encoded.len() != self.len {
            return None;
        }
        let piece = self.take_next_piece(&encoded);
        self.frames.lock_table().insert_frame(self.key, shrink_to_bytes(encoded));
        Some(piece)
    }

    /// A copy: a slice would keep the whole frame alive while its reader does not read.
    fn take_next_piece(&mut self, encoded: &[u8]) -> Vec<u8> {
        let begin = self.sent;
        self.sent = self.len.min(begin + PIECE_BYTES_MAX);
        encoded[begin..self.sent].to_vec()
    }

    pub(super) fn is_fully_sent(&self) -> bool {
        self.sent == self.len
    }
}

impl Drop for FrameSendCursor {
    fn drop(&mut self) {
        let mut table = self.frames.lock_table();
        let Some(frame) = table.frames.get_mut(&self.key) else { return };
        // A restored frame does not count all of its readers; a reader that is left restores it again.
        frame.readers = frame.readers.saturating_sub(1);
        if frame.readers == 0 {
            table.remove_frame(&self.key);
        }
    }
}

#[cfg(test)]
mod tests;
