//! The REST door: runs and sessions as JSON, for the command line, scripts and pages.
//!
//! Handlers are thin: they parse a request, call [`Runs`] and return its answer. A refused request
//! is answered with a problem (RFC 9457) that has a code of the catalogue.

mod caller;
mod content;
mod listing;
mod project;
mod reader;
mod refusal;
mod service;
mod sessions;
mod shapes;
mod stream;

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json;
use trackway_domain::{Code, Pos, RunId, SessionId, StateName};
use trackway_http::{Body, Params, Refusal};

use caller::{ApiCaller, RunPath};

pub use caller::Options;
pub use content::{Artifact, File, Message, Part, PartContent};
pub use reader::RunsReader;
pub use service::{Runs, RunsError, Updates};
pub use shapes::{
    EventPage, EventRecord, ForkRequest, GuidedDetail, ListFilter, OmittedDetail, PendingStep,
    PinnedDefinition, Question, ResumeMark, ResumeRequest, Resumed, RunDetail, RunList, RunSummary,
    RunUpdate, StartRequest, What,
};
/// The usage of runs, a part of their shapes.
pub use trackway_agent::{Bill, Spent};

/// Default number of runs or sessions in a list.
/// Limit (HTTP): runs or sessions in a list where the client names no number.
const LIST_DEFAULT: usize = 50;
/// Limit (HTTP): runs or sessions in a list.
const LIST_MAX: usize = 500;

/// The routes of the door.
pub fn router(options: Options) -> Router {
    let body_bytes_max = options.body_bytes_max;
    Router::new()
        .route("/api/runs", get(list).post(start))
        .route("/api/runs/{id}", get(show))
        .route("/api/runs/{id}/events", get(events))
        .route("/api/runs/{id}/definition", get(definition))
        .route("/api/runs/{id}/stream", get(follow))
        .route("/api/runs/{id}/cancel", post(cancel))
        .route("/api/runs/{id}/adopt", post(adopt))
        .route("/api/runs/{id}/fork", post(fork))
        .route("/api/runs/{id}/resume", post(resume))
        .route("/api/sessions", get(sessions::list))
        .route("/api/sessions/{id}", get(sessions::show))
        .layer(DefaultBodyLimit::max(body_bytes_max))
        .with_state(options)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    workflow: Option<String>,
    /// One state, or several separated by commas.
    state: Option<String>,
    session: Option<SessionId>,
    limit: Option<usize>,
    before: Option<RunId>,
}

async fn list(
    ApiCaller { runs, .. }: ApiCaller,
    Params(params): Params<ListParams>,
) -> Result<Response, Refusal> {
    let states = params.state.as_deref().map(states).transpose()?.unwrap_or_default();
    let limit = bounded(params.limit)?;
    let ListParams { workflow, session, before, .. } = params;
    let filter = ListFilter { workflow, states, session, before, limit };
    Ok(Json(runs.list(filter).await?).into_response())
}

/// The number of entries to list.
fn bounded(limit: Option<usize>) -> Result<usize, Refusal> {
    let limit = limit.unwrap_or(LIST_DEFAULT);
    if limit == 0 || limit > LIST_MAX {
        let detail = format!("limit must be from 1 to {LIST_MAX}, not {limit}");
        return Err(Refusal::new(Code::InvalidRequest, detail));
    }
    Ok(limit)
}

fn states(text: &str) -> Result<Vec<StateName>, Refusal> {
    let parse = |name: &str| {
        name.trim().parse().map_err(|why: String| {
            let known = StateName::ALL.map(StateName::as_str);
            Refusal::new(Code::InvalidRequest, why).with("known", json!(known))
        })
    };
    text.split(',').map(parse).collect()
}

async fn start(caller: ApiCaller, Body(request): Body<StartRequest>) -> Result<Response, Refusal> {
    caller.authenticated.may_run(&request.workflow)?;
    let run = caller.runs.start(request).await?;
    let location = [(header::LOCATION, format!("/api/runs/{}", run.summary.id))];
    Ok((StatusCode::CREATED, location, Json(run)).into_response())
}

async fn show(
    ApiCaller { runs, .. }: ApiCaller,
    RunPath(run): RunPath,
) -> Result<Response, Refusal> {
    Ok(Json(runs.detail(run).await?).into_response())
}

/// A position in a run's log.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    after: Option<Pos>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventParams {
    after: Option<Pos>,
    limit: Option<usize>,
}

async fn events(
    ApiCaller { runs, .. }: ApiCaller,
    RunPath(run): RunPath,
    Params(params): Params<EventParams>,
) -> Result<Response, Refusal> {
    // No upper check: a page has its own bound.
    let limit = params.limit.unwrap_or(usize::MAX).max(1);
    Ok(Json(runs.events(run, params.after.unwrap_or(0), limit).await?).into_response())
}

async fn definition(
    ApiCaller { runs, .. }: ApiCaller,
    RunPath(run): RunPath,
) -> Result<Response, Refusal> {
    Ok(Json(runs.definition(run).await?).into_response())
}

async fn follow(
    State(Options { frames, .. }): State<Options>,
    ApiCaller { runs, .. }: ApiCaller,
    RunPath(run): RunPath,
    Params(params): Params<After>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    // A client that reconnects sends the header in addition to its first address.
    let after = stream::last_event_id(&headers).or(params.after).unwrap_or(0);
    stream::updates(&runs, &frames, run, after).await
}

async fn cancel(caller: ApiCaller, RunPath(run): RunPath) -> Result<Response, Refusal> {
    caller.may_act_on(run).await?;
    Ok(Json(caller.runs.cancel(run).await?).into_response())
}

async fn adopt(caller: ApiCaller, RunPath(run): RunPath) -> Result<Response, Refusal> {
    caller.may_act_on(run).await?;
    Ok(Json(caller.runs.adopt(run).await?).into_response())
}

async fn fork(
    caller: ApiCaller,
    RunPath(run): RunPath,
    Body(request): Body<ForkRequest>,
) -> Result<Response, Refusal> {
    caller.may_act_on(run).await?;
    let forked = caller.runs.fork(run, request).await?;
    Ok((StatusCode::CREATED, Json(forked)).into_response())
}

async fn resume(
    caller: ApiCaller,
    RunPath(run): RunPath,
    Body(request): Body<ResumeRequest>,
) -> Result<Response, Refusal> {
    caller.may_act_on(run).await?;
    let resumed = caller.runs.resume(run, request).await?;
    if resumed.errors.is_empty() {
        return Ok(Json(resumed).into_response());
    }
    let schema =
        resumed.run.question.as_ref().map(|question| question.schema.clone()).unwrap_or_default();
    let detail = "the answer does not satisfy the question's schema";
    Err(Refusal::invalid(detail, &resumed.errors, &schema).with("answer", json!(resumed.answer)))
}
