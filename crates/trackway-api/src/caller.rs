//! The caller of a request, and which runs and sessions belong to that caller.

use std::sync::Arc;

use axum::{
    extract::{FromRef, FromRequestParts, Path},
    http::request::Parts,
};
use trackway_domain::{BadId, Code, RunId};
use trackway_http::{Authenticated, Gate, Refusal, sse::SharedFrames};
use trackway_ports::Journal;
use trackway_runtime::Runtime;
use trackway_sessions::SessionsReader;

use super::service::Runs;

/// What the door needs: an engine, its store, and a gatekeeper.
#[derive(Debug, Clone)]
pub struct Options {
    pub runtime: Runtime,
    pub journal: Arc<dyn Journal>,
    pub gate: Gate,
    /// Encoded updates that slow readers share, one set for all doors of a server.
    pub frames: SharedFrames,
    /// The largest request body that is read.
    pub body_bytes_max: usize,
}

impl FromRef<Options> for Gate {
    fn from_ref(options: &Options) -> Self {
        options.gate.clone()
    }
}

/// The runs and sessions of the caller, and what the caller may do with them.
#[derive(Debug)]
pub(super) struct ApiCaller {
    pub(super) runs: Runs,
    pub(super) sessions: SessionsReader,
    pub(super) authenticated: Authenticated,
}

impl FromRequestParts<Options> for ApiCaller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, options: &Options) -> Result<Self, Refusal> {
        let authenticated = Authenticated::from_request_parts(parts, options).await?;
        let access = authenticated.0.access();
        let sessions = SessionsReader::of(options.journal.clone(), access.clone());
        let runs = Runs::of(options.runtime.clone(), access);
        Ok(Self { runs, sessions, authenticated })
    }
}

impl ApiCaller {
    /// As [`Authenticated::may_run`], for the workflow of a run that the caller may see.
    pub(super) async fn may_act_on(&self, run: RunId) -> Result<(), Refusal> {
        // Avoids a read of the run that would change nothing.
        if self.authenticated.may_run_all() {
            return Ok(());
        }
        self.authenticated.may_run(&self.runs.workflow(run).await?)
    }
}

/// The run in the path. Text that is not a run id counts as an unknown run.
#[derive(Debug)]
pub(super) struct RunPath(pub(super) RunId);

impl<S: Send + Sync> FromRequestParts<S> for RunPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| Refusal::new(Code::InvalidRequest, rejection.body_text()))?;
        let run = text.parse();
        run.map(Self).map_err(|why: BadId| Refusal::new(Code::UnknownRun, why.to_string()))
    }
}
