//! Decides when to retry a model call. Pure: the caller waits.

use std::time::Duration;

use super::ModelError;

/// Attempts for one answer.
/// Limit (Agents): attempts at one answer of a model.
const ATTEMPTS_MAX: u32 = 3;

/// Total of all pauses for one answer. A user may be waiting.
/// Limit (Agents): pauses between the attempts at one answer, together.
const BACKOFF_MAX: Duration = Duration::from_millis(9_900);

/// The pause after the first failure; each further one doubles it.
const PAUSE_FIRST: Duration = Duration::from_millis(500);

/// The attempts at one answer.
#[derive(Debug, Clone)]
pub(crate) struct ModelBackoff {
    attempts: u32,
    paused: Duration,
    random: u64,
}

impl ModelBackoff {
    /// `random` spreads the pauses over their second half, so that many turns do not return to a busy
    /// server at the same moment.
    pub(crate) fn new(random: u64) -> Self {
        Self { attempts: 1, paused: Duration::ZERO, random }
    }

    /// How long to wait before the next attempt; `None` if the error is final. If a server asks for a
    /// longer wait than the limit, there is no early retry.
    pub(crate) fn next_retry_pause(&mut self, error: &ModelError) -> Option<Duration> {
        if !error.is_retryable() || self.attempts >= ATTEMPTS_MAX {
            return None;
        }
        let full = PAUSE_FIRST.saturating_mul(1 << (self.attempts - 1));
        let half = full / 2;
        let spread = u64::try_from(half.as_millis()).unwrap_or(0) + 1;
        let own = half + Duration::from_millis(self.random % spread);
        let pause = error.retry_after().map_or(own, |asked| asked.max(own));
        let paused = self.paused.checked_add(pause).filter(|paused| *paused <= BACKOFF_MAX)?;
        self.attempts += 1;
        self.paused = paused;
        // The next random number, derived from the same seed.
        self.random = self.random.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some(pause)
    }
}

#[cfg(test)]
mod tests;
