//! The caller of a request, and which runs and sessions belong to that caller.

use std::sync::Arc;

use axum::{
    extract::{FromRef, FromRequestParts, Path},
    http::request::Parts,
};
use trackway_domain::{ErrorCode, ParseIdError, RunId};
use trackway_http::{Authenticated, HttpError, OptionalAuthenticator, sse::SharedFrameCache};
use trackway_mesh::PeerRegistry;
use trackway_ports::{AuditLog, Journal, SharedAuditRecorder};
use trackway_runtime::Runtime;
use trackway_sessions::SessionsReader;

use super::runs_service::RunsService;

/// What the door needs: an engine, its store, and a gatekeeper.
#[derive(Debug, Clone)]
pub struct ApiOptions {
    pub runtime: Runtime,
    pub journal: Arc<dyn Journal>,
    pub gate: OptionalAuthenticator,
    /// What callers were refused.
    pub audit_log: Arc<dyn AuditLog>,
    /// Refusals on their way to the audit log.
    pub audit: SharedAuditRecorder,
    /// Agents of other processes.
    pub peers: PeerRegistry,
    /// Encoded updates that slow readers share, one set for all doors of a server.
    pub frames: SharedFrameCache,
    /// The largest request body that is read.
    pub body_bytes_max: usize,
}

impl FromRef<ApiOptions> for OptionalAuthenticator {
    fn from_ref(options: &ApiOptions) -> Self {
        options.gate.clone()
    }
}

/// The runs and sessions of the caller, and what the caller may do with them.
#[derive(Debug)]
pub(super) struct ApiCaller {
    pub(super) runs: RunsService,
    pub(super) sessions: SessionsReader,
    pub(super) authenticated: Authenticated,
}

impl FromRequestParts<ApiOptions> for ApiCaller {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, options: &ApiOptions) -> Result<Self, HttpError> {
        let authenticated = Authenticated::from_request_parts(parts, options).await?;
        let access = authenticated.0.access();
        let sessions = SessionsReader::for_access(options.journal.clone(), access.clone());
        let runs = RunsService::with_access(options.runtime.clone(), access);
        Ok(Self { runs, sessions, authenticated })
    }
}

impl ApiCaller {
    /// As [`Authenticated::check_can_run_workflow`], for the workflow of a run that the caller may see.
    pub(super) async fn check_can_act_on_run(&self, run: RunId) -> Result<(), HttpError> {
        // Avoids a read of the run that would change nothing.
        if self.authenticated.can_run_all_workflows() {
            return Ok(());
        }
        self.authenticated.check_can_run_workflow(&self.runs.run_workflow_name(run).await?)
    }
}

/// The run in the path. Text that is not a run id counts as an unknown run.
#[derive(Debug)]
pub(super) struct RunIdPath(pub(super) RunId);

impl<S: Send + Sync> FromRequestParts<S> for RunIdPath {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| HttpError::new(ErrorCode::InvalidRequest, rejection.body_text()))?;
        let run = text.parse();
        run.map(Self).map_err(|why: ParseIdError| HttpError::new(ErrorCode::UnknownRun, why.to_string()))
    }
}
