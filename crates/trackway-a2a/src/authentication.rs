//! Identifies the caller and checks its permissions. This is the only module that does so.

use axum::http::{HeaderMap, HeaderValue, header};
use trackway_domain::{Access, Code, Scopes};
use trackway_ports::{Identity, Unauthenticated, parse_bearer_token};
use trackway_runtime::ProgramInfo;

use crate::{
    Options,
    error::{A2aError, ErrorKind},
};

/// The instruction for a caller without a key.
pub(crate) const SEND_KEY_ADVICE: &str =
    "send the header Authorization: Bearer KEY; keys are made with `trackway keys create`";

/// An identified caller. The workflow of the request is not known yet.
#[derive(Debug)]
pub(crate) struct Authenticated {
    access: Access,
    auth_state: AuthState,
    /// Absent if there is no authentication: every caller may do everything.
    scopes: Option<Scopes>,
}

/// A caller that may use a workflow.
#[derive(Debug)]
pub(crate) struct Authorized {
    pub(crate) access: Access,
    pub(crate) auth_state: AuthState,
}

/// How a caller was identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuthState {
    /// By a key or token.
    Authenticated,
    /// The caller sent no credentials, although it could have.
    Anonymous,
    /// There is no authentication here.
    NotRequired,
}

/// The caller of a request. Without a gatekeeper every caller is the configured default caller.
pub(crate) async fn authenticate(headers: &HeaderMap, options: &Options) -> Result<Authenticated, A2aError> {
    let Some(gatekeeper) = &options.gatekeeper else {
        let access = Access::own_only(options.default_caller.clone());
        return Ok(Authenticated { access, auth_state: AuthState::NotRequired, scopes: None });
    };
    let carried = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let carried = parse_bearer_token(carried).map_err(|why| authentication_error(&why))?;
    let identity = gatekeeper.authenticate(carried).await.map_err(|why| authentication_error(&why))?;
    let (access, Identity { scopes, .. }) = (identity.access(), identity);
    let standing = carried.map_or(AuthState::Anonymous, |_| AuthState::Authenticated);
    Ok(Authenticated { access, auth_state: standing, scopes: Some(scopes) })
}

impl Authenticated {
    /// Whether the caller may use this workflow.
    pub(crate) fn authorize(self, info: &ProgramInfo) -> Result<Authorized, A2aError> {
        let Self { access, auth_state: standing, scopes } = self;
        let called = || format!("agent:{}:call", info.name);
        match scopes {
            Some(scopes) if !scopes.allows(&run_scope(info)) && !scopes.allows(&called()) => {
                Err(A2aError::new(
                    ErrorKind::Forbidden,
                    Code::Forbidden,
                    format!("your key does not allow calls to {:?}", info.name),
                    format!("use a key with the scope {}", run_scope(info)),
                ))
            }
            Some(_) | None => Ok(Authorized { access, auth_state: standing }),
        }
    }
}

/// The scope that a call to the workflow needs.
pub(crate) fn run_scope(info: &ProgramInfo) -> String {
    format!("workflow:{}:run", info.name)
}

fn authentication_error(why: &Unauthenticated) -> A2aError {
    match why {
        Unauthenticated::Missing | Unauthenticated::Wrong { .. } => {
            A2aError::new(ErrorKind::Unauthenticated, why.code(), why.to_string(), SEND_KEY_ADVICE)
        }
        Unauthenticated::Unavailable { reason } => {
            tracing::error!(reason, "callers cannot be recognised");
            let message = "the server cannot check keys at the moment";
            A2aError::new(ErrorKind::Internal, why.code(), message, "try again in a moment")
        }
    }
}
