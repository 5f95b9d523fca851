//! Who is calling, and whether they may. The one place where the door learns it.

use axum::http::{HeaderMap, header};
use trackway_domain::{Caller, Code};
use trackway_ports::{Identity, Unrecognised};
use trackway_runtime::ProgramInfo;

use crate::{
    Options,
    fault::{Fault, Kind},
};

/// What somebody does who needs a key.
pub(crate) const NEXT_KEY: &str =
    "send the header Authorization: Bearer KEY; keys are made with `trackway keys create`";

/// Somebody who may call a workflow.
#[derive(Debug)]
pub(crate) struct Entrant {
    pub(crate) caller: Caller,
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

/// Who is behind a request to this workflow. Without a gatekeeper whoever reaches the door is the
/// configured caller.
pub(crate) async fn admit(
    headers: &HeaderMap,
    options: &Options,
    info: &ProgramInfo,
) -> Result<Entrant, Fault> {
    let Some(gatekeeper) = &options.gatekeeper else {
        let caller = options.default_caller.clone();
        return Ok(Entrant { caller, standing: Standing::Unasked });
    };
    let carried = bearer(headers);
    let Identity { caller, scopes } =
        gatekeeper.identify(carried).await.map_err(|why| unrecognised(&why))?;
    let standing = carried.map_or(Standing::Silent, |_| Standing::Recognised);
    let called = format!("agent:{}:call", info.name);
    if scopes.allows(&scope(info)) || scopes.allows(&called) {
        return Ok(Entrant { caller, standing });
    }
    Err(Fault::new(
        Kind::Forbidden,
        Code::Forbidden,
        format!("your key does not allow calls to {:?}", info.name),
        format!("use a key with the scope {}", scope(info)),
    ))
}

/// The scope that a call to the workflow needs.
pub(crate) fn scope(info: &ProgramInfo) -> String {
    format!("workflow:{}:run", info.name)
}

/// What the caller carries. Credentials of any other kind are no key, and must not pass for none.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or_default();
    match sent.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Some(key.trim()),
        _ => Some(""),
    }
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
