//! Retries: which errors are retried, how often, and how long to wait.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use super::{Backoff, ClientError, Options, ResendPolicy, TransportError};

/// Longest wait that an agent can ask for. If an agent asks for more, the error is returned.
/// Limit (A2A): wait that an agent may request from our client.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// The effect of a second attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RepeatEffect {
    /// None: the request only reads, or is idempotent.
    Harmless,
    /// Something that must not happen twice, such as sending a message.
    OnlyOnce,
}

/// Calls `once` until it succeeds, fails permanently, or reaches the maximum number of attempts.
pub(super) async fn retry_with_backoff<T, F>(
    options: &Options,
    effect: RepeatEffect,
    mut attempt: impl FnMut() -> F,
) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    let mut tries = 0;
    loop {
        let error = match attempt().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let worth_it = tries < options.retries && is_transient_error(&error, effect, options.resend);
        let Some(pause) = worth_it.then(|| retry_delay(&error, options.backoff, tries)).flatten() else {
            return Err(error);
        };
        tracing::debug!(%error, ?pause, "retrying a request to an agent");
        tokio::time::sleep(pause).await;
        tries += 1;
    }
}

/// Whether the same request may succeed later, and a retry is harmless.
pub(super) fn is_transient_error(error: &ClientError, effect: RepeatEffect, resend: ResendPolicy) -> bool {
    match error {
        ClientError::Status { status, .. } => is_transient_status(*status),
        ClientError::Refused(refusal) => is_transient_status(refusal.status),
        // The agent never received it.
        ClientError::Transport { source: TransportError::NotSent(_), .. } => true,
        ClientError::Transport { .. } => effect == RepeatEffect::Harmless || resend == ResendPolicy::WhenLost,
        ClientError::Timeout { .. } | ClientError::StreamClosed => effect == RepeatEffect::Harmless,
        ClientError::InvalidAddress { .. }
        | ClientError::InvalidHeader { .. }
        | ClientError::RequestTooLarge { .. }
        | ClientError::MalformedResponse { .. }
        | ClientError::Unsupported { .. }
        | ClientError::NoInterface { .. } => false,
    }
}

fn is_transient_status(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// How long to wait before the next attempt; `None` if the agent asks for a longer wait than the limit.
pub(super) fn retry_delay(error: &ClientError, backoff: Backoff, tries: u32) -> Option<Duration> {
    let asked = match error {
        ClientError::Status { retry_after, .. } => retry_after.unwrap_or_default(),
        _ => Duration::ZERO,
    };
    (asked <= RETRY_AFTER_MAX).then(|| asked.max(backoff.backoff_delay_after(tries)))
}

impl Backoff {
    /// The wait after this many earlier failures.
    pub(super) fn backoff_delay_after(self, failures: u32) -> Duration {
        let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
        let full = self.first.saturating_mul(factor).min(self.longest);
        // Keys of a hasher are random enough for this, and need no additional crate.
        let random = RandomState::new().hash_one(failures);
        full.mul_f64(0.5 + 0.5 * (random as f64 / u64::MAX as f64))
    }
}

#[cfg(test)]
mod tests;
