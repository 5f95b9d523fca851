//! How a workflow stops before its end.

use std::{convert::Infallible, error::Error, fmt};

use trackway_domain::Failure;

/// Why a workflow stopped: it rejected, or something failed. Made by [`reject`], or by `?` from any
/// error. It takes effect only when the workflow returns it.
pub struct Stop(pub(crate) trackway_runtime::ProgramStop);

impl Stop {
    /// The workflow declines to continue, as a value: `return Err(Stop::rejected("…"))`. As a
    /// statement, [`reject`] reads better.
    pub fn rejected(reason: impl Into<String>) -> Self {
        Self(trackway_runtime::ProgramStop::Rejected(reason.into()))
    }

    /// The workflow failed, with this message.
    pub fn failed(message: impl Into<String>) -> Self {
        Self(trackway_runtime::ProgramStop::Failed(Failure::new(message)))
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Declines to continue, for a reason that a person can read: `reject("the market is closed")?;`
///
/// If the workflow rejects before anything else, the run is rejected without ever being `working`.
#[must_use = "a rejection takes effect when it is returned: write `reject(…)?`"]
pub fn reject(reason: impl Into<String>) -> Result<Infallible, Stop> {
    Err(Stop::rejected(reason))
}

impl<E: Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::failed(format_error_chain(&error))
    }
}

/// An error with its causes, in one line.
pub(crate) fn format_error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
