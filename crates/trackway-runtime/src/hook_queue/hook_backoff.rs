//! When a failed delivery is tried again, and when it is given up.

use std::time::Duration;

use trackway_domain::Timestamp;

/// Pause after the first failure; each further one doubles it. A receiver that is being restarted is
/// back within seconds.
/// Limit (Push): pause after the first failed delivery; it doubles each time.
const PAUSE_FIRST: Duration = Duration::from_secs(1);

/// Longest pause. A receiver that comes back after hours gets its updates within this time.
/// Limit (Push): pause between two deliveries of one update.
const PAUSE_MAX: Duration = Duration::from_secs(15 * 60);

/// How long one update is tried.
/// Limit (Push): time for which one update is tried.
const GIVE_UP_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// When the next attempt is due after this many failures, the first of which was at `since`. `None`: it was
/// tried for long enough. The last attempt is made at the end of that time.
///
/// `random` spreads the attempts over the second half of each pause, so that the hooks of one receiver
/// do not all come back in the same moment.
pub(super) fn next_delivery_attempt_at(
    now: Timestamp,
    first_failure: Timestamp,
    failures: u32,
    random: u64,
) -> Option<Timestamp> {
    let end = first_failure + GIVE_UP_AFTER;
    if now >= end {
        return None;
    }
    let doublings = failures.saturating_sub(1).min(31);
    let pause = PAUSE_FIRST.saturating_mul(1 << doublings).min(PAUSE_MAX);
    let half = pause / 2;
    let spread = Duration::from_millis(random % (duration_millis(half) + 1));
    Some((now + half + spread).min(end))
}

fn duration_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX - 1)
}

#[cfg(test)]
mod tests;
