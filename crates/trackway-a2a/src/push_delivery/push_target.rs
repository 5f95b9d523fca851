//! The receiver of a delivery.

use std::fmt;

/// A receiver, as a client configured it.
#[derive(Clone, PartialEq, Eq)]
pub struct PushTarget {
    pub url: String,
    /// Sent back unchanged, so that the receiver can match the delivery.
    pub token: Option<String>,
    pub credentials: Option<PushCredentials>,
}

/// `Authorization: {scheme} {value}`.
#[derive(Clone, PartialEq, Eq)]
pub struct PushCredentials {
    pub scheme: String,
    pub value: String,
}

/// The query of an address is often a secret, like token and credentials.
impl fmt::Debug for PushTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        f.debug_struct("Target").field("url", &url).finish_non_exhaustive()
    }
}

impl fmt::Debug for PushCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}
