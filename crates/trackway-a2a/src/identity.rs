//! Who is calling, and whether they may. The one place where the door learns it.

use axum::http::{HeaderMap, HeaderValue, header};
use trackway_domain::{Access, Code, Scopes};
use trackway_ports::{Identity, Unrecognised, bearer};
use trackway_runtime::ProgramInfo;

use crate::{
    Options,
    fault::{Fault, Kind},
};

/// What somebody does who needs a key.
pub(crate) const NEXT_KEY: &str =
    "send the header Authorization: Bearer KEY; keys are made with `trackway keys create`";

/// Somebody at the door. Which workflow they want is not known yet.
#[derive(Debug)]
pub(crate) struct Visitor {
    access: Access,
    standing: Standing,
    /// Absent where nobody is asked: everybody may do everything.
    scopes: Option<Scopes>,
}

/// Somebody who may call a workflow.
#[derive(Debug)]
pub(crate) struct Entrant {
    pub(crate) access: Access,
    pub(crate) standing: Standing,
}

/// How a caller came to be the one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// By a key or token.
    Recognised,
    /// It said nothing, where it could have.
    Silent,
    /// Nobody is asked here.
    Unasked,
}

/// Who is behind a request. Without a gatekeeper whoever reaches the door is the configured caller.
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
    /// Whether they may call this workflow.
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
