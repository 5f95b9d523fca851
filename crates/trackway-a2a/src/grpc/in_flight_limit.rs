//! A memory limit for large events that are sent over gRPC.
//!
//! The gRPC encoder encodes an event as a whole and passes it to the connection, so a reader that does
//! not read costs one event. All such events share a limit. If the next event of a stream does not fit,
//! the stream ends, and its reader subscribes again after its last position.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use trackway_http::sse::WHOLE_BYTES_MAX;

/// Limit (A2A): bytes of large events that are being sent over gRPC.
///
/// Several of the largest events. A single larger event needs all of it.
const EVENTS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The remaining room. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct InFlightBytesLimit {
    /// One permit for each kibibyte.
    free: Arc<Semaphore>,
}

/// An event that is being sent; small ones use no room.
#[derive(Debug)]
pub(super) struct InFlightEventPermit {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Default for InFlightBytesLimit {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(EVENTS_BYTES_MAX / 1024)) }
    }
}

impl InFlightBytesLimit {
    /// Reserves room for an event of about this many bytes, until the returned value is dropped.
    pub(super) fn reserve_event_bytes(&self, bytes: usize) -> Result<InFlightEventPermit, Status> {
        if bytes <= WHOLE_BYTES_MAX {
            return Ok(InFlightEventPermit { _permit: None });
        }
        let kib = u32::try_from(bytes.min(EVENTS_BYTES_MAX) / 1024).unwrap_or(u32::MAX);
        match self.free.clone().try_acquire_many_owned(kib) {
            Ok(permit) => Ok(InFlightEventPermit { _permit: Some(permit) }),
            Err(_) => Err(Status::resource_exhausted(
                "too many large events are on their way to readers who do not read; subscribe again \
                 after the last position",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    const MIB: usize = 1024 * 1024;

    /// Issue 11, S-L6: events that are being sent over gRPC have a limit in bytes, however many readers
    /// do not read.
    #[test]
    fn large_events_on_their_way_have_a_bound() {
        let room = InFlightBytesLimit::default();
        let small: Vec<_> = (0..10_000).map(|_| room.reserve_event_bytes(1_000).unwrap()).collect();
        let mut large = Vec::new();
        let full = loop {
            match room.reserve_event_bytes(4 * MIB) {
                Ok(taken) => large.push(taken),
                Err(full) => break full,
            }
        };
        assert_eq!((large.len() * 4 * MIB, full.code()), (EVENTS_BYTES_MAX, Code::ResourceExhausted));
        assert!(room.reserve_event_bytes(1_000).is_ok(), "small ones go on");
        large.pop();
        assert!(room.reserve_event_bytes(4 * MIB).is_ok(), "one of them was read");
        drop((small, large));
        assert!(room.reserve_event_bytes(10 * EVENTS_BYTES_MAX).is_ok(), "one that is larger goes alone");
    }
}
