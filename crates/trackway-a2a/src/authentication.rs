//! Identifies the caller and checks its permissions. This is the only module that does so.

use axum::http::{HeaderMap, HeaderValue, header};
use trackway_domain::{Access, ErrorCode, Scopes};
use trackway_ports::{Identity, Unauthenticated, parse_bearer_token};
use trackway_runtime::ProgramInfo;

use crate::{
    Options,
    error::{A2aError, A2aErrorKind},
};

/// The instruction for a caller without a key.
pub(crate) const SEND_KEY_ADVICE: &str =
    "send the header Authorization: Bearer KEY; keys are made with `trackway keys create`";

/// An identified caller. The workflow of the request is not known yet.
#[derive(Debug)]
pub(crate) struct AuthenticatedClient {
    access: Access,
    auth_state: ClientAuthState,
    /// Absent if there is no authentication: every caller may do everything.
    scopes: Option<Scopes>,
}

/// A caller that may use a workflow.
#[derive(Debug)]
pub(crate) struct AuthorizedClient {
    pub(crate) access: Access,
    pub(crate) auth_state: ClientAuthState,
}

/// How a caller was identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAuthState {
    /// By a key or token.
    Authenticated,
    /// The caller sent no credentials, although it could have.
    Anonymous,
    /// There is no authentication here.
    NotRequired,
}

/// The caller of a request. Without a gatekeeper every caller is the configured default caller.
pub(crate) async fn authenticate_client(
    headers: &HeaderMap,
    options: &Options,
) -> Result<AuthenticatedClient, A2aError> {
    let Some(gatekeeper) = &options.gatekeeper else {
        let access = Access::own_only(options.default_caller.clone());
        return Ok(AuthenticatedClient { access, auth_state: ClientAuthState::NotRequired, scopes: None });
    };
    let carried = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let carried = parse_bearer_token(carried).map_err(|why| authentication_error(&why))?;
    let identity = gatekeeper.authenticate(carried).await.map_err(|why| authentication_error(&why))?;
    let (access, Identity { scopes, .. }) = (identity.access(), identity);
    let standing = carried.map_or(ClientAuthState::Anonymous, |_| ClientAuthState::Authenticated);
    Ok(AuthenticatedClient { access, auth_state: standing, scopes: Some(scopes) })
}

impl AuthenticatedClient {
    /// Whether the caller may use this workflow.
    pub(crate) fn authorize_for_workflow(self, info: &ProgramInfo) -> Result<AuthorizedClient, A2aError> {
        let Self { access, auth_state: standing, scopes } = self;
        let called = || format!("agent:{}:call", info.name);
        match scopes {
            Some(scopes)
                if !scopes.allows_permission(&required_run_scope(info))
                    && !scopes.allows_permission(&called()) =>
            {
                Err(A2aError::new(
                    A2aErrorKind::Forbidden,
                    ErrorCode::Forbidden,
                    format!("your key does not allow calls to {:?}", info.name),
                    format!("use a key with the scope {}", required_run_scope(info)),
                ))
            }
            Some(_) | None => Ok(AuthorizedClient { access, auth_state: standing }),
        }
    }
}

/// The scope that a call to the workflow needs.
pub(crate) fn required_run_scope(info: &ProgramInfo) -> String {
    format!("workflow:{}:run", info.name)
}

fn authentication_error(why: &Unauthenticated) -> A2aError {
    match why {
        Unauthenticated::Missing | Unauthenticated::Wrong { .. } => {
            A2aError::new(A2aErrorKind::Unauthenticated, why.code(), why.to_string(), SEND_KEY_ADVICE)
        }
        Unauthenticated::Unavailable { reason } => {
            tracing::error!(reason, "callers cannot be recognised");
            let message = "the server cannot check keys at the moment";
            A2aError::new(A2aErrorKind::Internal, why.code(), message, "try again in a moment")
        }
    }
}
