//! Why something does not work over NATS.

use std::error::Error;

/// How much of a text that was given is repeated in an error.
/// Limit (Mesh): characters of a wrong namespace that an error repeats.
const SHOWN_CHARS_MAX: usize = 100;

/// Why something does not work over NATS. Only the first two need a person.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    #[error("{:?} cannot be the namespace of a mesh: it has 1 to {bytes_max} bytes", cut_text(namespace))]
    InvalidNamespace { namespace: String, bytes_max: usize },
    /// The address is not printed: it may contain a password.
    #[error("the address of the NATS server cannot be used: {reason}")]
    InvalidUrl { reason: String },
    #[error("there is no connection to the NATS server")]
    Disconnected,
    /// A request to the server failed, or an answer did not arrive in time.
    #[error("NATS: {doing} failed")]
    Request {
        doing: &'static str,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A message that no Trackway node has sent.
    #[error("a message cannot be read: {reason}")]
    Malformed { reason: String },
    /// The node that holds a task does not answer.
    #[error("no node that has this agent or task is connected")]
    NobodyThere,
}

impl NatsError {
    pub(crate) fn request<E: Into<Box<dyn Error + Send + Sync>>>(
        doing: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Request { doing, source: source.into() }
    }

    pub(crate) fn malformed(reason: impl std::fmt::Display) -> Self {
        Self::Malformed { reason: reason.to_string() }
    }
}

/// The error with its causes, for logs and health checks.
pub(crate) fn describe_error(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn cut_text(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}
