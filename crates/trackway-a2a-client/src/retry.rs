//! Trying again: what is worth it, how often, and how long to wait in between.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use super::{Backoff, ClientError, Options, Resend};

/// Longest wait that an agent can ask for. Whoever asks for more is answered with the error.
/// Limit (A2A): wait that an agent may ask of our client.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// What a second try could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing: the request reads, or may be repeated by its nature.
    None,
    /// Something that is not meant to happen twice: it sends a message, say.
    Once,
}

/// Calls `once` until it succeeds, fails for good, or was tried often enough.
pub(super) async fn retrying<T, F>(
    options: &Options,
    effect: Effect,
    mut once: impl FnMut() -> F,
) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    let mut tries = 0;
    loop {
        let error = match once().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let worth_it = tries < options.retries && is_passing(&error, effect, options.resend);
        let Some(pause) = worth_it.then(|| pause(&error, options.backoff, tries)).flatten() else {
            return Err(error);
        };
        tracing::debug!(%error, ?pause, "a request to an agent is tried again");
        tokio::time::sleep(pause).await;
        tries += 1;
    }
}

/// Whether the same request may fare better in a moment, and does no harm.
pub(super) fn is_passing(error: &ClientError, effect: Effect, resend: Resend) -> bool {
    match error {
        ClientError::Status { status, .. } => is_passing_status(*status),
        ClientError::Refused(refusal) => is_passing_status(refusal.status),
        // The agent never saw it.
        ClientError::Transport { source, .. } if source.is_connect() => true,
        ClientError::Transport { .. } => effect == Effect::None || resend == Resend::Lost,
        ClientError::Timeout { .. } | ClientError::Closed => effect == Effect::None,
        ClientError::Address { .. }
        | ClientError::Malformed { .. }
        | ClientError::Unsupported { .. }
        | ClientError::NoInterface { .. } => false,
    }
}

fn is_passing_status(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// How long to wait before the next try; `None` if the agent asks for longer than anybody waits.
pub(super) fn pause(error: &ClientError, backoff: Backoff, tries: u32) -> Option<Duration> {
    let asked = match error {
        ClientError::Status { retry_after, .. } => retry_after.unwrap_or_default(),
        _ => Duration::ZERO,
    };
    (asked <= RETRY_AFTER_MAX).then(|| asked.max(backoff.after(tries)))
}

impl Backoff {
    /// The wait after so many failures before this one.
    pub(super) fn after(self, failures: u32) -> Duration {
        let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
        let full = self.first.saturating_mul(factor).min(self.longest);
        // Keys of a hasher are as random as this needs, and need no further crate.
        let random = RandomState::new().hash_one(failures);
        full.mul_f64(0.5 + 0.5 * (random as f64 / u64::MAX as f64))
    }
}

#[cfg(test)]
mod tests;
