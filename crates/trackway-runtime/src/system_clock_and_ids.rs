//! The real clock and the real source of ids: the only entry point of time and random numbers.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use trackway_domain::Timestamp;
use trackway_ports::{Clock, IdSource, PortFuture};
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
        sleep_for(moment.duration_since(self.now()))
    }
}

/// The machine's clock, except that it never goes back.
///
/// When the machine's clock is set back, time continues from where it was: a run that sleeps for an hour
/// wakes an hour later, and not when the old time comes again. When the clock is set forward, time follows.
/// After a restart it begins at the newest recorded time, if that is later than the machine's, so no recorded
/// time is ahead of now.
#[derive(Debug)]
pub struct MonotonicClock {
    /// A std mutex: it is only locked for a comparison.
    state: Mutex<MonotonicState>,
}

/// If a recorded time is further ahead of the machine's clock than this, a wrong clock recorded it, or it
/// came with an import: it is not followed.
///
/// Limit (Runtime): how far recorded time may be ahead of the machine's clock and be followed.
const AHEAD_MAX: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// The latest time that was returned, and when that was.
#[derive(Debug, Clone, Copy)]
struct MonotonicState {
    latest: Timestamp,
    at: Instant,
}

impl MonotonicState {
    fn start_after_newest_event(newest: Option<Timestamp>, wall: Timestamp, at: Instant) -> Self {
        let ahead = newest.filter(|newest| *newest > wall);
        let told = match ahead {
            Some(newest) if newest.duration_since(wall) <= AHEAD_MAX => {
                let ahead = newest.duration_since(wall);
                tracing::warn!(?ahead, "the machine's clock was set back; time goes on from the log");
                newest
            }
            Some(newest) => {
                tracing::warn!(%newest, "the newest recorded time is far ahead and is not followed");
                wall
            }
            None => wall,
        };
        Self { latest: told, at }
    }

    fn advance_to_wall_time(&mut self, wall: Timestamp, at: Instant) -> Timestamp {
        let steady = self.latest + at.saturating_duration_since(self.at);
        // Kept as it is while the machine's clock is behind: adding small durations would lose their
        // fractions.
        if wall > steady {
            *self = Self { latest: wall, at };
            return wall;
        }
        steady
    }
}

impl MonotonicClock {
    /// A clock that begins at the machine's time, or at that of the newest event if it is later.
    pub fn starting_from_newest_event(newest: Option<Timestamp>) -> Self {
        let steady = MonotonicState::start_after_newest_event(newest, SystemClock.now(), Instant::now());
        Self { state: Mutex::new(steady) }
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Timestamp {
        let mut steady = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        steady.advance_to_wall_time(SystemClock.now(), Instant::now())
    }

    fn sleep_until(&self, moment: Timestamp) -> PortFuture<'_, ()> {
        sleep_for(moment.duration_since(self.now()))
    }
}

fn sleep_for<'a>(span: Duration) -> PortFuture<'a, ()> {
    // One millisecond more: a timer must never fire before its moment by rounding.
    let span = if span.is_zero() { span } else { span + Duration::from_millis(1) };
    Box::pin(tokio::time::sleep(span))
}

/// UUIDv7 and random numbers from a generator that the operating system seeds.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl IdSource for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "this is the door to fresh ids")]
    fn new_uuid(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn random_u64(&self) -> u64 {
        // The low half of a UUIDv7 is random except for its two variant bits; two of them fill 64.
        let (a, b) = (self.new_uuid().as_u64_pair().1, self.new_uuid().as_u64_pair().1);
        a ^ b.rotate_left(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn wall_time_at_hour(hours: i64) -> Timestamp {
        Timestamp::from_millis(hours * 3_600_000)
    }

    /// Proves X2: after the clock is set back, no timer fires late.
    #[test]
    fn clock_set_back_does_not_move_time_back() {
        let begin = Instant::now();
        let mut steady = MonotonicState::start_after_newest_event(None, wall_time_at_hour(100), begin);
        assert_eq!(steady.advance_to_wall_time(wall_time_at_hour(101), begin + HOUR), wall_time_at_hour(101));
        // Set back by ten hours, twice.
        assert_eq!(
            steady.advance_to_wall_time(wall_time_at_hour(92), begin + 2 * HOUR),
            wall_time_at_hour(102)
        );
        assert_eq!(
            steady.advance_to_wall_time(wall_time_at_hour(83), begin + 3 * HOUR),
            wall_time_at_hour(103)
        );
        // Set forward, and it is right again.
        assert_eq!(
            steady.advance_to_wall_time(wall_time_at_hour(200), begin + 4 * HOUR),
            wall_time_at_hour(200)
        );
        assert_eq!(
            steady.advance_to_wall_time(wall_time_at_hour(201), begin + 5 * HOUR),
            wall_time_at_hour(201)
        );
    }

    /// Proves X2: after a restart, no timer waits for the old time to come again.
    #[test]
    fn time_continues_from_the_log_after_a_restart() {
        let begin = Instant::now();
        for (newest, first) in [(None, 100), (Some(90), 100), (Some(110), 110), (Some(10_000), 100)] {
            let mut steady = MonotonicState::start_after_newest_event(
                newest.map(wall_time_at_hour),
                wall_time_at_hour(100),
                begin,
            );
            assert_eq!(
                steady.advance_to_wall_time(wall_time_at_hour(100), begin),
                wall_time_at_hour(first),
                "{newest:?}"
            );
        }
    }
}
