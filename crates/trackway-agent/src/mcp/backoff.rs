//! How long a server that ended is left alone before it is started again.

use std::time::Duration;

/// The wait after a first end. Most servers that end once do not end again at once.
/// Limit (Tools): pause before a tool server is restarted the first time.
const FIRST: Duration = Duration::from_millis(500);

/// The longest wait. A server that somebody repairs is back within this time.
/// Limit (Tools): pause before a tool server is restarted.
const LONGEST: Duration = Duration::from_secs(60);

/// A server that was up for this long is not the reason for its own next failure.
pub(super) const STEADY: Duration = Duration::from_secs(60);

/// The wait after so many failures in a row, the first of them 1.
pub(super) fn backoff(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (FIRST * 2_u32.pow(doublings)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_bounded() {
        assert_eq!(backoff(1), FIRST);
        assert_eq!(backoff(2), FIRST * 2);
        assert_eq!(backoff(8), LONGEST);
        assert_eq!(backoff(u32::MAX), LONGEST);
    }
}
