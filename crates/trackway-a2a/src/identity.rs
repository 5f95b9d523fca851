//! Identifies the caller and checks its permissions. This is the only module that does so.

use axum::http::{HeaderMap, HeaderValue, header};
use trackway_domain::{Access, Code, Scopes};
use trackway_ports::{Identity, Unrecognised, bearer};
use trackway_runtime::ProgramInfo;

use crate::{
    Options,
    fault::{Fault, Kind},
};

/// The instruction for a caller without a key.
pub(crate) const NEXT_KEY: &str =
    "send the header Authorization: Bearer KEY; keys are made with `trackway keys create`";

/// An identified caller. The workflow of the request is not known yet.
#[derive(Debug)]
pub(crate) struct Visitor {
    access: Access,
    standing: Standing,
    /// Absent if there is no authentication: every caller may do everything.
    scopes: Option<Scopes>,
}

/// A caller that may use a workflow.
#[derive(Debug)]
pub(crate) struct Entrant {
    pub(crate) access: Access,
    pub(crate) standing: Standing,
}

/// How a caller was identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// By a key or token.
    Recognised,
    /// The caller sent no credentials, although it could have.
    Silent,
    /// There is no authentication here.
    Unasked,
}

/// The caller of a request. Without a gatekeeper every caller is the configured default caller.
pub(crate) async fn recognise(headers: &HeaderMap, options: &Options) -> Result<Visitor, Fault> {
    let Some(gatekeeper) = &options.gatekeeper else {
        let access = Access::own(options.default_caller.clone());
        return Ok(Visitor { access, standing: Standing::Unasked, scopes: None });
    };
    let carried = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let carried = bearer(carried).map_err(|why| unrecognised(&why))?;
    let identity = gatekeeper.identify(carried).await.map_err(|why| unrecognised(&why))?;
    let (access, Identity { scopes, .. }) = (identity.access(), identity);
    let standing = carried.map_or(Standing::Silent, |_| Standing::Recognised);
    Ok(Visitor { access, standing, scopes: Some(scopes) })
}

impl Visitor {
    /// Whether the caller may use this workflow.
    pub(crate) fn enter(self, info: &ProgramInfo) -> Result<Entrant, Fault> {
        let Self { access, standing, scopes } = self;
        let called = || format!("agent:{}:call", info.name);
        match scopes {
            Some(scopes) if !scopes.allows(&scope(info)) && !scopes.allows(&called()) => {
                Err(Fault::new(
                    Kind::Forbidden,
                    Code::Forbidden,
                    format!("your key does not allow calls to {:?}", info.name),
                    format!("use a key with the scope {}", scope(info)),
                ))
            }
            Some(_) | None => Ok(Entrant { access, standing }),
        }
    }
}

/// The scope that a call to the workflow needs.
pub(crate) fn scope(info: &ProgramInfo) -> String {
    format!("workflow:{}:run", info.name)
}

fn unrecognised(why: &Unrecognised) -> Fault {
    match why {
        Unrecognised::Missing | Unrecognised::Wrong { .. } => {
            Fault::new(Kind::Unauthenticated, why.code(), why.to_string(), NEXT_KEY)
        }
        Unrecognised::Unavailable { reason } => {
            tracing::error!(reason, "callers cannot be recognised");
            let message = "the server cannot check keys at the moment";
            Fault::new(Kind::Internal, why.code(), message, "try again in a moment")
        }
    }
}
