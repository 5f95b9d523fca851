//! The REST door: runs, sessions and artifacts as JSON, for the command line, scripts and pages.
//!
//! Handlers are thin: they parse a request, call [`RunsService`] and return its answer. A refused request
//! is answered with a problem (RFC 9457) that has a code of the catalogue.

mod api_caller;
mod artifact_routes;
mod artifact_types;
mod attached_files;
mod audit_routes;
mod engine_conversions;
mod http_error;
mod message_content;
mod peer_routes;
mod run_listing;
mod runs_reader;
mod runs_service;
mod session_routes;
mod update_stream;
mod wire_types;

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json;
use trackway_domain::{ErrorCode, Position, RunId, SessionId, StateName};
use trackway_http::{HttpError, JsonBody, QueryParams};

use api_caller::{ApiCaller, RunIdPath};

pub use api_caller::ApiOptions;
pub use artifact_routes::{ArtifactApiOptions, artifacts_api_router};
pub use artifact_types::{ArtifactList, ArtifactVersion};
pub use audit_routes::{AuditEntry, AuditList};
pub use message_content::{Artifact, File, Message, Part, PartContent};
pub use peer_routes::{AddPeerRequest, PeerDetail, PeerList, PeerSummary};
pub use runs_reader::RunsReader;
pub use runs_service::{RunUpdateStream, RunsError, RunsService};
/// The usage of runs, a part of their shapes.
pub use trackway_agent::{ModelUsageReport, ModelUsageTotals};
pub use wire_types::{
    AttachedFile, EventPage, EventRecord, ForkRequest, GuidedDetail, OmittedDetail, PendingStepView,
    PinnedDefinition, QuestionView, ResumeRank, ResumeRequest, ResumeResponse, RunDetail, RunList,
    RunListFilter, RunSummary, RunUpdate, RunUpdateKind, StartRequest,
};

/// Default number of runs or sessions in a list.
/// Limit (HTTP): runs or sessions in a list where the client names no number.
const LIST_DEFAULT: usize = 50;
/// Limit (HTTP): runs or sessions in a list.
const LIST_MAX: usize = 500;

/// The routes of the door.
pub fn runs_api_router(options: ApiOptions) -> Router {
    let body_bytes_max = options.body_bytes_max;
    Router::new()
        .route("/api/runs", get(list_runs).post(start_run))
        .route("/api/runs/{id}", get(get_run))
        .route("/api/runs/{id}/events", get(list_run_events))
        .route("/api/runs/{id}/definition", get(get_run_definition))
        .route("/api/runs/{id}/stream", get(stream_run_updates))
        .route("/api/runs/{id}/cancel", post(cancel_run))
        .route("/api/runs/{id}/adopt", post(adopt_run))
        .route("/api/runs/{id}/fork", post(fork_run))
        .route("/api/runs/{id}/resume", post(resume_run))
        .route("/api/audit", get(audit_routes::list_audit_events))
        .route("/api/peers", get(peer_routes::list_peers).post(peer_routes::add_peer))
        .route("/api/peers/{name}", get(peer_routes::get_peer).delete(peer_routes::remove_peer))
        .route("/api/peers/{name}/ping", post(peer_routes::ping_peer))
        .route("/api/sessions", get(session_routes::list_sessions))
        .route("/api/sessions/{id}", get(session_routes::get_session))
        .layer(DefaultBodyLimit::max(body_bytes_max))
        .with_state(options)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunListParams {
    workflow: Option<String>,
    /// One state, or several separated by commas.
    state: Option<String>,
    session: Option<SessionId>,
    limit: Option<usize>,
    before: Option<RunId>,
}

async fn list_runs(
    ApiCaller { runs, .. }: ApiCaller,
    QueryParams(params): QueryParams<RunListParams>,
) -> Result<Response, HttpError> {
    let states = params.state.as_deref().map(parse_state_filter).transpose()?.unwrap_or_default();
    let limit = check_run_list_limit(params.limit)?;
    let RunListParams { workflow, session, before, .. } = params;
    let filter = RunListFilter { workflow, states, session, before, limit };
    Ok(Json(runs.list_runs(filter).await?).into_response())
}

/// The number of entries to list.
fn check_run_list_limit(limit: Option<usize>) -> Result<usize, HttpError> {
    let limit = limit.unwrap_or(LIST_DEFAULT);
    if limit == 0 || limit > LIST_MAX {
        let detail = format!("limit must be from 1 to {LIST_MAX}, not {limit}");
        return Err(HttpError::new(ErrorCode::InvalidRequest, detail));
    }
    Ok(limit)
}

fn parse_state_filter(text: &str) -> Result<Vec<StateName>, HttpError> {
    let parse = |name: &str| {
        name.trim().parse().map_err(|why: String| {
            let known = StateName::ALL.map(StateName::as_str);
            HttpError::new(ErrorCode::InvalidRequest, why).with_problem_member("known", json!(known))
        })
    };
    text.split(',').map(parse).collect()
}

async fn start_run(
    caller: ApiCaller,
    JsonBody(request): JsonBody<StartRequest>,
) -> Result<Response, HttpError> {
    caller.authenticated.check_can_run_workflow(&request.workflow)?;
    let run = caller.runs.start_run(request).await?;
    let location = [(header::LOCATION, format!("/api/runs/{}", run.summary.id))];
    Ok((StatusCode::CREATED, location, Json(run)).into_response())
}

async fn get_run(
    ApiCaller { runs, .. }: ApiCaller,
    RunIdPath(run): RunIdPath,
) -> Result<Response, HttpError> {
    Ok(Json(runs.load_run_detail(run).await?).into_response())
}

/// A position in a run's log.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AfterPositionParams {
    after: Option<Position>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventListParams {
    after: Option<Position>,
    limit: Option<usize>,
}

async fn list_run_events(
    ApiCaller { runs, .. }: ApiCaller,
    RunIdPath(run): RunIdPath,
    QueryParams(params): QueryParams<EventListParams>,
) -> Result<Response, HttpError> {
    // No upper check: a page has its own bound.
    let limit = params.limit.unwrap_or(usize::MAX).max(1);
    Ok(Json(runs.list_run_events(run, params.after.unwrap_or(0), limit).await?).into_response())
}

async fn get_run_definition(
    ApiCaller { runs, .. }: ApiCaller,
    RunIdPath(run): RunIdPath,
) -> Result<Response, HttpError> {
    Ok(Json(runs.load_run_definition(run).await?).into_response())
}

async fn stream_run_updates(
    State(ApiOptions { frames, .. }): State<ApiOptions>,
    ApiCaller { runs, .. }: ApiCaller,
    RunIdPath(run): RunIdPath,
    QueryParams(params): QueryParams<AfterPositionParams>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    // A client that reconnects sends the header in addition to its first address.
    let after = update_stream::last_event_id_position(&headers).or(params.after).unwrap_or(0);
    update_stream::run_updates_response(&runs, &frames, run, after).await
}

async fn cancel_run(caller: ApiCaller, RunIdPath(run): RunIdPath) -> Result<Response, HttpError> {
    caller.check_can_act_on_run(run).await?;
    Ok(Json(caller.runs.cancel_run(run).await?).into_response())
}

async fn adopt_run(caller: ApiCaller, RunIdPath(run): RunIdPath) -> Result<Response, HttpError> {
    caller.check_can_act_on_run(run).await?;
    Ok(Json(caller.runs.adopt_run(run).await?).into_response())
}

async fn fork_run(
    caller: ApiCaller,
    RunIdPath(run): RunIdPath,
    JsonBody(request): JsonBody<ForkRequest>,
) -> Result<Response, HttpError> {
    caller.check_can_act_on_run(run).await?;
    let forked = caller.runs.fork_run(run, request).await?;
    Ok((StatusCode::CREATED, Json(forked)).into_response())
}

async fn resume_run(
    caller: ApiCaller,
    RunIdPath(run): RunIdPath,
    JsonBody(request): JsonBody<ResumeRequest>,
) -> Result<Response, HttpError> {
    caller.check_can_act_on_run(run).await?;
    let resumed = caller.runs.resume_run(run, request).await?;
    if resumed.errors.is_empty() {
        return Ok(Json(resumed).into_response());
    }
    let schema = resumed.run.question.as_ref().map(|question| question.schema.clone()).unwrap_or_default();
    let detail = "the answer does not satisfy the question's schema";
    Err(HttpError::invalid_input(detail, &resumed.errors, &schema)
        .with_problem_member("answer", json!(resumed.answer)))
}
