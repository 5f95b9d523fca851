//! Who is calling: what every door asks before it does anything.

use std::fmt;

use trackway_domain::{Access, Caller, Code, Scopes};

use crate::PortFuture;

/// Somebody who was recognised, and what they may do.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    pub caller: Caller,
    pub scopes: Scopes,
}

impl Identity {
    /// The caller on a machine without auth, who may do everything.
    pub fn local() -> Self {
        Self { caller: Caller::local(), scopes: Scopes::all() }
    }

    /// Whose things they may use.
    pub fn access(&self) -> Access {
        Access::new(self.caller.clone(), &self.scopes)
    }
}

/// Why somebody was not recognised. The reasons can be shown to whoever asked: they name nothing that
/// was sent and nothing that would have been right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unrecognised {
    /// Nothing was sent that says who it is.
    #[error("a key or token is needed")]
    Missing,
    /// What was sent says nothing, or nothing any more.
    #[error("{reason}")]
    Wrong { reason: String },
    /// What was sent cannot be judged at the moment; the same request may do later.
    #[error("{reason}")]
    Unavailable { reason: String },
}

impl Unrecognised {
    pub const fn code(&self) -> Code {
        match self {
            Self::Missing | Self::Wrong { .. } => Code::Unauthenticated,
            Self::Unavailable { .. } => Code::AuthUnavailable,
        }
    }
}

/// Recognises callers by what they carry.
pub trait Gatekeeper: Send + Sync + fmt::Debug {
    /// Who carries this: the credentials of an `Authorization: Bearer` header, where there was one.
    fn identify<'a>(
        &'a self,
        bearer: Option<&'a str>,
    ) -> PortFuture<'a, Result<Identity, Unrecognised>>;
}
