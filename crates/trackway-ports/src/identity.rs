//! Who is calling: every door checks this before it does anything.

use std::fmt;

use trackway_domain::{Access, Caller, ErrorCode, Scopes};

use crate::PortFuture;

/// An authenticated caller, and what it may do.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    pub caller: Caller,
    pub scopes: Scopes,
}

impl Identity {
    /// The caller on a machine without auth. It may do everything.
    pub fn local_user() -> Self {
        Self { caller: Caller::local_without_auth(), scopes: Scopes::all_workflows_and_agents() }
    }

    /// The data that the caller may use.
    pub fn access(&self) -> Access {
        Access::new(self.caller.clone(), &self.scopes)
    }
}

/// Why a caller was not authenticated. The reasons are safe to show to the caller: they contain no
/// part of the credentials, and no hint at valid ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unauthenticated {
    /// The request has no credentials.
    #[error("a key or token is needed")]
    Missing,
    /// The credentials are invalid, or no longer valid.
    #[error("{reason}")]
    Wrong { reason: String },
    /// The credentials cannot be checked at the moment; the same request may succeed later.
    #[error("{reason}")]
    Unavailable { reason: String },
}

impl Unauthenticated {
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Missing | Self::Wrong { .. } => ErrorCode::Unauthenticated,
            Self::Unavailable { .. } => ErrorCode::AuthUnavailable,
        }
    }
}

/// Authenticates callers by their credentials.
pub trait Authenticator: Send + Sync + fmt::Debug {
    /// The caller with these credentials: those of an `Authorization: Bearer` header, if there was
    /// one.
    fn authenticate<'a>(
        &'a self,
        bearer: Option<&'a str>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>>;
}
