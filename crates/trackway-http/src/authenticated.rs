//! The caller of a request, authenticated before the body is read.

use std::sync::Arc;

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{HeaderMap, HeaderValue, header, request::Parts},
};
use trackway_domain::{ErrorCode, Permission, PermissionRefusal};
use trackway_ports::{
    Authenticator, CALL_TOKEN_HEADER, Credentials, Identity, Unauthenticated, parse_bearer_token,
};

use crate::HttpError;

/// Authenticates callers; absent if every caller is the local caller. A door whose state provides
/// it ([`FromRef`]) can extract [`Authenticated`].
pub type OptionalAuthenticator = Option<Arc<dyn Authenticator>>;

/// Resolves the credentials of a request to an identity.
pub async fn authenticate_headers(
    authenticator: &OptionalAuthenticator,
    headers: &HeaderMap,
) -> Result<Identity, Unauthenticated> {
    let Some(gatekeeper) = authenticator else { return Ok(Identity::local_user()) };
    let carried = headers.get(header::AUTHORIZATION).filter(|_| gatekeeper.checks_bearers());
    let bearer = parse_bearer_token(carried.map(HeaderValue::as_bytes))?;
    // A call token that is no text says nothing, as every other token that cannot be read.
    let call_token = headers.get(CALL_TOKEN_HEADER).and_then(|token| token.to_str().ok());
    gatekeeper.authenticate(Credentials { bearer, call_token }).await
}

/// An authenticated caller. Any other caller is refused before the body is read.
#[derive(Debug)]
pub struct Authenticated(pub Identity);

impl<S: Send + Sync> FromRequestParts<S> for Authenticated
where
    OptionalAuthenticator: FromRef<S>,
{
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let identity = authenticate_headers(&OptionalAuthenticator::from_ref(state), &parts.headers).await;
        identity.map(Self).map_err(|error| {
            tracing::debug!(path = parts.uri.path(), %error, "a request was refused");
            HttpError::from(error)
        })
    }
}

impl Authenticated {
    /// Whether the caller may do this. Every refusal is recorded in the audit log.
    pub fn check_permission(&self, permission: Permission<'_>) -> Result<(), HttpError> {
        self.0.check_permission(permission).map_err(HttpError::from)
    }

    /// Whether the caller may start, answer and cancel runs of this workflow.
    pub fn check_can_run_workflow(&self, workflow: &str) -> Result<(), HttpError> {
        self.check_permission(Permission::RunWorkflow(workflow))
    }

    /// Whether the caller may read the artifacts that its access covers.
    pub fn check_can_read_artifacts(&self) -> Result<(), HttpError> {
        self.check_permission(Permission::ReadArtifacts)
    }

    /// Whether the caller may store and remove artifacts.
    pub fn check_can_write_artifacts(&self) -> Result<(), HttpError> {
        self.check_permission(Permission::WriteArtifacts)
    }

    /// Whether the caller may add, remove and ping peers.
    pub fn check_can_administer_peers(&self) -> Result<(), HttpError> {
        self.check_permission(Permission::AdministerPeers)
    }

    /// Whether the caller may read the audit log of its tenant.
    pub fn check_can_read_audit(&self) -> Result<(), HttpError> {
        self.check_permission(Permission::ReadAudit)
    }

    /// Whether the caller may see data that belongs to no single tenant.
    pub fn check_can_see_all_tenants(&self) -> Result<(), HttpError> {
        self.check_permission(Permission::SeeAllTenants)
    }

    /// Whether the caller may run every workflow, so that a check of one workflow is not needed.
    pub fn can_run_all_workflows(&self) -> bool {
        self.0.scopes.is_all_workflows_and_agents()
    }
}

impl From<PermissionRefusal> for HttpError {
    fn from(refusal: PermissionRefusal) -> Self {
        let hint = format!("it needs the scope {}", refusal.needed_scope);
        Self::new(ErrorCode::Forbidden, refusal.to_string()).with_hint(&hint)
    }
}
