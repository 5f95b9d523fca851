//! Runs and sessions over REST, for the command line and scripts.
//!
//! Handlers are thin: they take a request apart, ask [`Runs`] and give back its answer. What is not
//! done is answered with a problem (RFC 9457) that has a code of the catalogue.

mod asker;
mod content;
mod listing;
mod project;
mod reader;
mod refusal;
mod service;
mod sessions;
mod shapes;
mod stream;

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json;
use trackway_domain::{Code, Pos, RunId, SessionId, StateName};
use trackway_http::{Authenticated, Body, Params, Refusal};

use super::metrics::Metrics;
use asker::{Asker, Named};

pub(super) use asker::Door;
pub use content::{Artifact, File, Message, Part, PartContent};
pub use reader::RunsReader;
pub use service::{Runs, RunsError, Updates};
pub use shapes::{
    EventPage, EventRecord, ForkRequest, GuidedDetail, ListFilter, OmittedDetail, PendingStep,
    PinnedDefinition, Question, ResumeMark, ResumeRequest, Resumed, RunDetail, RunList, RunSummary,
    RunUpdate, StartRequest, What,
};

/// Runs or sessions in a list, unless asked for more or fewer.
/// Limit (HTTP): runs or sessions in a list where the client names no number.
const LIST_DEFAULT: usize = 50;
/// Limit (HTTP): runs or sessions in a list.
const LIST_MAX: usize = 500;

pub(super) fn router(door: Door, body_bytes_max: usize) -> Router {
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
        .route("/metrics", get(metrics))
        .layer(DefaultBodyLimit::max(body_bytes_max))
        .with_state(door)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    workflow: Option<String>,
    /// One state, or several with commas between them.
    state: Option<String>,
    session: Option<SessionId>,
    limit: Option<usize>,
    before: Option<RunId>,
}

async fn list(
    Asker { runs, .. }: Asker,
    Params(params): Params<ListParams>,
) -> Result<Response, Refusal> {
    let states = params.state.as_deref().map(states).transpose()?.unwrap_or_default();
    let limit = bounded(params.limit)?;
    let ListParams { workflow, session, before, .. } = params;
    let filter = ListFilter { workflow, states, session, before, limit };
    Ok(Json(runs.list(filter).await?).into_response())
}

/// How many are listed.
fn bounded(limit: Option<usize>) -> Result<usize, Refusal> {
    let limit = limit.unwrap_or(LIST_DEFAULT);
    if limit == 0 || limit > LIST_MAX {
        let detail = format!("limit is from 1 to {LIST_MAX}, not {limit}");
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

async fn start(asker: Asker, Body(request): Body<StartRequest>) -> Result<Response, Refusal> {
    asker.authenticated.may_run(&request.workflow)?;
    let run = asker.runs.start(request).await?;
    let location = [(header::LOCATION, format!("/api/runs/{}", run.summary.id))];
    Ok((StatusCode::CREATED, location, Json(run)).into_response())
}

/// What this process has done. The numbers are of all tenants.
async fn metrics(
    caller: Authenticated,
    Extension(metrics): Extension<Arc<Metrics>>,
) -> Result<Response, Refusal> {
    caller.may_see_all()?;
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, metrics.text()).into_response())
}

async fn show(Asker { runs, .. }: Asker, Named(run): Named) -> Result<Response, Refusal> {
    Ok(Json(runs.detail(run).await?).into_response())
}

/// A place in a run's log.
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
    Asker { runs, .. }: Asker,
    Named(run): Named,
    Params(params): Params<EventParams>,
) -> Result<Response, Refusal> {
    // Beyond its bound a page is simply full.
    let limit = params.limit.unwrap_or(usize::MAX).max(1);
    Ok(Json(runs.events(run, params.after.unwrap_or(0), limit).await?).into_response())
}

async fn definition(Asker { runs, .. }: Asker, Named(run): Named) -> Result<Response, Refusal> {
    Ok(Json(runs.definition(run).await?).into_response())
}

async fn follow(
    State(Door { frames, .. }): State<Door>,
    Asker { runs, .. }: Asker,
    Named(run): Named,
    Params(params): Params<After>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    // Who comes back after a lost connection sends the header beside the address it began with.
    let after = stream::last_event_id(&headers).or(params.after).unwrap_or(0);
    stream::updates(&runs, &frames, run, after).await
}

async fn cancel(asker: Asker, Named(run): Named) -> Result<Response, Refusal> {
    asker.may_act_on(run).await?;
    Ok(Json(asker.runs.cancel(run).await?).into_response())
}

async fn adopt(asker: Asker, Named(run): Named) -> Result<Response, Refusal> {
    asker.may_act_on(run).await?;
    Ok(Json(asker.runs.adopt(run).await?).into_response())
}

async fn fork(
    asker: Asker,
    Named(run): Named,
    Body(request): Body<ForkRequest>,
) -> Result<Response, Refusal> {
    asker.may_act_on(run).await?;
    let forked = asker.runs.fork(run, request).await?;
    Ok((StatusCode::CREATED, Json(forked)).into_response())
}

async fn resume(
    asker: Asker,
    Named(run): Named,
    Body(request): Body<ResumeRequest>,
) -> Result<Response, Refusal> {
    asker.may_act_on(run).await?;
    let resumed = asker.runs.resume(run, request).await?;
    if resumed.errors.is_empty() {
        return Ok(Json(resumed).into_response());
    }
    let schema =
        resumed.run.question.as_ref().map(|question| question.schema.clone()).unwrap_or_default();
    let detail = "the answer does not satisfy the question's schema";
    Err(Refusal::invalid(detail, &resumed.errors, &schema).with("answer", json!(resumed.answer)))
}
