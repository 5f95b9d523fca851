//! Identifies the caller and checks its permissions. This is the only module that does so.

use axum::http::{HeaderMap, header};
use trackway_domain::{Access, ErrorCode, Permission, Scopes};
use trackway_http::authenticate_headers;
use trackway_ports::{Identity, Unauthenticated};
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
    identity: Identity,
    auth_state: ClientAuthState,
}

/// A caller that may use a workflow.
#[derive(Debug)]
pub(crate) struct AuthorizedClient {
    pub(crate) identity: Identity,
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
        let identity = Identity::new(options.default_caller.clone(), Scopes::all_workflows_and_agents());
        return Ok(AuthenticatedClient { identity, auth_state: ClientAuthState::NotRequired });
    };
    let auth_state = match (gatekeeper.checks_bearers(), headers.contains_key(header::AUTHORIZATION)) {
        (false, _) => ClientAuthState::NotRequired,
        (true, true) => ClientAuthState::Authenticated,
        (true, false) => ClientAuthState::Anonymous,
    };
    let identity = authenticate_headers(&options.gatekeeper, headers).await;
    Ok(AuthenticatedClient { identity: identity.map_err(|why| authentication_error(&why))?, auth_state })
}

impl AuthenticatedClient {
    /// Whether the caller may use this workflow.
    pub(crate) fn authorize_for_workflow(self, info: &ProgramInfo) -> Result<AuthorizedClient, A2aError> {
        let Self { identity, auth_state } = self;
        identity.check_permission(Permission::RunWorkflow(&info.name)).map_err(|_| {
            A2aError::new(
                A2aErrorKind::Forbidden,
                ErrorCode::Forbidden,
                format!("your key does not allow calls to {:?}", info.name),
                format!("use a key with the scope {}", required_run_scope(info)),
            )
        })?;
        Ok(AuthorizedClient { access: identity.access(), identity, auth_state })
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
