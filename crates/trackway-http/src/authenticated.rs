//! The caller of a request, authenticated before the body is read.

use std::sync::Arc;

use axum::{
    extract::{FromRef, FromRequestParts},
    http::{HeaderMap, HeaderValue, header, request::Parts},
};
use trackway_domain::Code;
use trackway_ports::{Gatekeeper, Identity, Unrecognised, bearer};

use crate::Refusal;

/// Authenticates callers; absent if every caller is the local caller. A door whose state provides
/// it ([`FromRef`]) can extract [`Authenticated`].
pub type Gate = Option<Arc<dyn Gatekeeper>>;

/// Resolves the credentials of a request to an identity.
pub async fn identify(gate: &Gate, headers: &HeaderMap) -> Result<Identity, Unrecognised> {
    let Some(gatekeeper) = gate else { return Ok(Identity::local()) };
    let carried = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    gatekeeper.identify(bearer(carried)?).await
}

/// An authenticated caller. Any other caller is refused before the body is read.
#[derive(Debug)]
pub struct Authenticated(pub Identity);

impl<S: Send + Sync> FromRequestParts<S> for Authenticated
where
    Gate: FromRef<S>,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let identity = identify(&Gate::from_ref(state), &parts.headers).await;
        identity.map(Self).map_err(|error| {
            tracing::debug!(path = parts.uri.path(), %error, "a request was refused");
            Refusal::from(error)
        })
    }
}

impl Authenticated {
    /// Whether the caller may start, answer and cancel runs of this workflow.
    pub fn may_run(&self, workflow: &str) -> Result<(), Refusal> {
        if self.0.scopes.allow_run(workflow) {
            return Ok(());
        }
        let detail = format!("this key may not run {workflow:?}");
        Err(Refusal::new(Code::Forbidden, detail)
            .hint(&format!("it needs the scope workflow:{workflow}:run or agent:{workflow}:call")))
    }

    /// Whether the caller may run every workflow, so that a check of one workflow is not needed.
    pub fn may_run_all(&self) -> bool {
        self.0.scopes.is_all()
    }

    /// Whether the caller may see data that belongs to no single tenant.
    pub fn may_see_all(&self) -> Result<(), Refusal> {
        if self.0.scopes.is_all() {
            return Ok(());
        }
        Err(Refusal::new(Code::Forbidden, "this key may not see what others do")
            .hint("it needs the scope *"))
    }
}
