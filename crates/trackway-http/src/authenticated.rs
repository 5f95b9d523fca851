//! The caller of a request, authenticated before the body is read.

use std::sync::Arc;

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{HeaderMap, HeaderValue, header, request::Parts},
};
use trackway_domain::ErrorCode;
use trackway_ports::{Authenticator, Identity, Unauthenticated, parse_bearer_token};

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
    let carried = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    gatekeeper.authenticate(parse_bearer_token(carried)?).await
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
    /// Whether the caller may start, answer and cancel runs of this workflow.
    pub fn check_can_run_workflow(&self, workflow: &str) -> Result<(), HttpError> {
        if self.0.scopes.allows_workflow_run(workflow) {
            return Ok(());
        }
        let detail = format!("this key may not run {workflow:?}");
        Err(HttpError::new(ErrorCode::Forbidden, detail)
            .with_hint(&format!("it needs the scope workflow:{workflow}:run or agent:{workflow}:call")))
    }

    /// Whether the caller may run every workflow, so that a check of one workflow is not needed.
    pub fn can_run_all_workflows(&self) -> bool {
        self.0.scopes.is_all_workflows_and_agents()
    }

    /// Whether the caller may see data that belongs to no single tenant.
    pub fn check_can_see_all_tenants(&self) -> Result<(), HttpError> {
        if self.0.scopes.is_all_workflows_and_agents() {
            return Ok(());
        }
        Err(HttpError::new(ErrorCode::Forbidden, "this key may not see what others do")
            .with_hint("it needs the scope *"))
    }
}
