//! Who is calling: every door checks this before it does anything.

use std::{fmt, sync::Arc};

use trackway_domain::{Access, CallChain, Caller, ErrorCode, Permission, PermissionRefusal, Scopes};

use crate::{NoAuditRecorder, PortFuture, RefusedAction, SharedAuditRecorder};

/// An authenticated caller, and what it may do. Every door asks [`Identity::check_permission`], so that every
/// refusal is recorded in one place.
#[derive(Debug, Clone)]
pub struct Identity {
    pub caller: Caller,
    pub scopes: Scopes,
    /// The agents that called each other until this request; empty if no node calls for another.
    pub call_chain: CallChain,
    audit: SharedAuditRecorder,
}

impl Identity {
    /// A caller whose refusals are not recorded.
    pub fn new(caller: Caller, scopes: Scopes) -> Self {
        Self { caller, scopes, call_chain: CallChain::default(), audit: Arc::new(NoAuditRecorder) }
    }

    /// The caller on a machine without auth. It may do everything.
    pub fn local_user() -> Self {
        Self::new(Caller::local_without_auth(), Scopes::all_workflows_and_agents())
    }

    /// The same caller; its refusals are recorded here.
    #[must_use]
    pub fn with_audit(self, audit: SharedAuditRecorder) -> Self {
        Self { audit, ..self }
    }

    /// A request with the same scopes for this caller.
    #[must_use]
    pub fn with_caller(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// The same caller, called through these agents.
    #[must_use]
    pub fn with_call_chain(self, call_chain: CallChain) -> Self {
        Self { call_chain, ..self }
    }

    /// The data that the caller may use.
    pub fn access(&self) -> Access {
        Access::new(self.caller.clone(), &self.scopes)
    }

    /// Whether the scopes permit this. A refusal is recorded in the audit log of the caller's tenant.
    pub fn check_permission(&self, permission: Permission<'_>) -> Result<(), PermissionRefusal> {
        if self.scopes.allows_action(&permission) {
            return Ok(());
        }
        let refusal = permission.refusal();
        let reason = format!("needs the scope {}", refusal.needed_scope);
        self.record_refusal(RefusedAction {
            action: permission.action(),
            object: permission.object(),
            reason: &reason,
        });
        Err(refusal)
    }

    /// Records in the audit log of the caller's tenant that it did not get something.
    pub fn record_refusal(&self, refused: RefusedAction<'_>) {
        self.audit.record_refusal(&self.caller, refused);
    }
}

/// Where refusals are recorded is not part of who a caller is.
impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        (&self.caller, &self.scopes, &self.call_chain) == (&other.caller, &other.scopes, &other.call_chain)
    }
}

/// What a request presents to prove who is calling.
#[derive(Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// Of an `Authorization: Bearer` header.
    pub bearer: Option<&'a str>,
    /// Of a [`crate::CALL_TOKEN_HEADER`]: another node says for whom it calls.
    pub call_token: Option<&'a str>,
}

/// Credentials are secret and are not printed.
impl fmt::Debug for Credentials<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("bearer", &self.bearer.is_some())
            .field("call_token", &self.call_token.is_some())
            .finish()
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
    /// The caller with these credentials.
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>>;

    /// Whether keys and tokens of callers are checked at all. If not, every caller is the local one, unless
    /// a trusted node calls for somebody else.
    fn checks_bearers(&self) -> bool {
        true
    }
}
