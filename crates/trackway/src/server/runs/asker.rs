//! Who asks, learnt from the request before anything else is read of it.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, header, request::Parts},
    response::{IntoResponse, Response},
};
use trackway_a2a::SharedFrames;
use trackway_domain::{Code, RunId, Scopes};
use trackway_ports::{Gatekeeper, Identity, Journal, Unrecognised, bearer};
use trackway_runtime::Runtime;

use super::{refusal::Refusal, service::Runs};
use crate::sessions::SessionsReader;

/// What every request needs.
#[derive(Debug, Clone)]
pub(in crate::server) struct Door {
    pub(in crate::server) runtime: Runtime,
    pub(in crate::server) journal: Arc<dyn Journal>,
    /// Absent where everybody is the local caller.
    pub(in crate::server) gatekeeper: Option<Arc<dyn Gatekeeper>>,
    /// Encoded updates that slow readers share.
    pub(in crate::server) frames: SharedFrames,
}

/// Somebody who was recognised: their runs and sessions, and what they may do with them. Whoever is not, is refused
/// before the body is read.
#[derive(Debug)]
pub(super) struct Asker {
    pub(super) runs: Runs,
    pub(super) sessions: SessionsReader,
    scopes: Scopes,
}

impl FromRequestParts<Door> for Asker {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<Self, Response> {
        let identity = match &door.gatekeeper {
            Some(gatekeeper) => identify(&**gatekeeper, &parts.headers).await,
            None => Ok(Identity::local()),
        };
        let identity = identity.map_err(|error| {
            tracing::debug!(path = parts.uri.path(), %error, "a request was refused");
            Refusal::from(error).into_response()
        })?;
        let access = identity.access();
        let sessions = SessionsReader::of(door.journal.clone(), access.clone());
        let runs = Runs::of(door.runtime.clone(), access);
        Ok(Self { runs, sessions, scopes: identity.scopes })
    }
}

impl Asker {
    /// Whether runs of this workflow may be started, answered and cancelled.
    pub(super) fn may_run(&self, workflow: &str) -> Result<(), Refusal> {
        if self.scopes.allow_run(workflow) {
            return Ok(());
        }
        let detail = format!("this key may not run {workflow:?}");
        Err(Refusal::new(Code::Forbidden, detail)
            .hint(&format!("it needs the scope workflow:{workflow}:run or agent:{workflow}:call")))
    }

    /// Whether what is no tenant's own may be seen.
    pub(super) fn may_see_all(&self) -> Result<(), Refusal> {
        if self.scopes.is_all() {
            return Ok(());
        }
        Err(Refusal::new(Code::Forbidden, "this key may not see what others do")
            .hint("it needs the scope *"))
    }

    /// As [`Self::may_run`], for the workflow of a run, where the run exists for them.
    pub(super) async fn may_act_on(&self, run: RunId) -> Result<(), Refusal> {
        // Spares a look at the run where it would change nothing.
        if self.scopes.is_all() {
            return Ok(());
        }
        self.may_run(&self.runs.workflow(run).await?)
    }
}

async fn identify(
    gatekeeper: &dyn Gatekeeper,
    headers: &HeaderMap,
) -> Result<Identity, Unrecognised> {
    let carried = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    gatekeeper.identify(bearer(carried)?).await
}
