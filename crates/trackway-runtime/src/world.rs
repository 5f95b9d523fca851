//! The real clock and the real source of ids: the one door through which time and chance come in.

use std::time::{Duration, SystemTime};

use trackway_domain::Timestamp;
use trackway_ports::{Clock, Ids, PortFuture};
use uuid::Uuid;

/// The machine's wall clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the door to the clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, moment: Timestamp) -> PortFuture<'_, ()> {
        // One millisecond more: a timer must never fire before its moment by rounding.
        let span = moment.since(self.now());
        let span = if span.is_zero() { span } else { span + Duration::from_millis(1) };
        Box::pin(tokio::time::sleep(span))
    }
}

/// UUIDv7 and random numbers from the operating system's source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl Ids for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "this is the door to fresh ids")]
    fn uuid(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn random(&self) -> u64 {
        // The low half of a UUIDv7 is random but for its two variant bits; two of them fill 64.
        let (a, b) = (self.uuid().as_u64_pair().1, self.uuid().as_u64_pair().1);
        a ^ b.rotate_left(32)
    }
}
