//! The methods of protocol 0.3: parameters in, operation, result out.

use axum::{
    http::{HeaderMap, StatusCode},
    response::Response,
};
use serde_json::value::RawValue;
use trackway_domain::{Code, Pos};

use super::Request;
use crate::{
    Options,
    fault::{Fault, Kind},
    http, jsonrpc,
    ops::{Agent, Follow, Snapshot, Wait},
    sse,
    wire::v03::{
        Configuration, HISTORY_MESSAGES_MAX, SendParams, StreamItem, Task, TaskIdParams,
        TaskQueryParams, incoming,
    },
};

/// What a client may ask for and gets. Workflows answer with text and JSON; files among their parts
/// have types of their own.
const OUTPUT_MODES: [&str; 2] = ["text/plain", "application/json"];

/// What a method came to, before it is written.
enum Outcome {
    Task(Box<Snapshot>, usize),
    Stream(Box<Follow>, usize),
}

pub(crate) async fn serve(
    agent: &Agent<'_>,
    request: &Request<'_>,
    headers: &HeaderMap,
    options: &Options,
) -> Response {
    match call(agent, request, headers).await {
        Ok(Outcome::Task(snapshot, history)) => {
            let place = snapshot.place();
            // Most Tasks fit; a longer one grows it.
            let mut body = Vec::with_capacity(2_048);
            jsonrpc::write(&mut body, request.id, Ok(Task::new(&snapshot, &place, history)));
            http::json(StatusCode::OK, body)
        }
        Ok(Outcome::Stream(follow, history)) => stream(request.id, *follow, history, options),
        Err(fault) => http::json(StatusCode::OK, jsonrpc::refusal(request.id, &fault)),
    }
}

async fn call(
    agent: &Agent<'_>,
    request: &Request<'_>,
    headers: &HeaderMap,
) -> Result<Outcome, Fault> {
    match &*request.method {
        "message/send" => {
            let params: SendParams = request.params()?;
            let (wait, history) = configured(params.configuration.map(|sent| sent.0))?;
            let snapshot = agent.send(incoming(params.message.0)?, wait).await?;
            Ok(Outcome::Task(Box::new(snapshot), history))
        }
        "message/stream" => {
            let params: SendParams = request.params()?;
            let (_, history) = configured(params.configuration.map(|sent| sent.0))?;
            let follow = agent.stream(incoming(params.message.0)?).await?;
            Ok(Outcome::Stream(Box::new(follow), history))
        }
        "tasks/get" => {
            let params: TaskQueryParams = request.params()?;
            let history = history(params.history_length, "/params/historyLength")?;
            let snapshot = agent.get(&params.id).await?;
            Ok(Outcome::Task(Box::new(snapshot), history))
        }
        "tasks/cancel" => {
            let params: TaskIdParams = request.params()?;
            let snapshot = agent.cancel(&params.id).await?;
            Ok(Outcome::Task(Box::new(snapshot), HISTORY_MESSAGES_MAX))
        }
        "tasks/resubscribe" => {
            let params: TaskIdParams = request.params()?;
            let follow = agent.subscribe(&params.id, last_event(headers)?).await?;
            Ok(Outcome::Stream(Box::new(follow), HISTORY_MESSAGES_MAX))
        }
        "tasks/pushNotificationConfig/set"
        | "tasks/pushNotificationConfig/get"
        | "tasks/pushNotificationConfig/list"
        | "tasks/pushNotificationConfig/delete" => Err(no_push()),
        "agent/getAuthenticatedExtendedCard" => Err(Fault::new(
            Kind::ExtendedCardNotConfigured,
            Code::InvalidRequest,
            "this agent has no extended card",
            "the card at .well-known/agent-card.json says all there is",
        )),
        method => {
            let shown: String = method.chars().take(64).collect();
            Err(Fault::new(
                Kind::MethodNotFound,
                Code::InvalidRequest,
                format!("there is no method {shown:?}"),
                "send one of the methods of protocol 0.3: message/send, message/stream, tasks/get, tasks/cancel, tasks/resubscribe",
            ))
        }
    }
}

fn stream(id: &RawValue, follow: Follow, history: usize, options: &Options) -> Response {
    let id = id.to_owned();
    sse::response(follow, options.heartbeat, move |out, place, item| {
        let result = item.map(|item| StreamItem::new(item, place, history));
        jsonrpc::write(out, &id, result);
    })
}

/// What the configuration asks of a send: whether to wait, and how much history to show.
fn configured(sent: Option<Configuration>) -> Result<(Wait, usize), Fault> {
    let sent = sent.unwrap_or_default();
    if sent.push_notification_config.is_some() {
        return Err(no_push().at("/params/configuration/pushNotificationConfig"));
    }
    let modes = sent.accepted_output_modes.unwrap_or_default();
    if !modes.is_empty() && !modes.iter().any(|mode| is_produced(mode)) {
        return Err(Fault::new(
            Kind::ContentTypeNotSupported,
            Code::InvalidRequest,
            "this agent produces none of the accepted output modes",
            "accept text/plain or application/json, or leave acceptedOutputModes out",
        )
        .at("/params/configuration/acceptedOutputModes"));
    }
    let history = history(sent.history_length, "/params/configuration/historyLength")?;
    let wait = if sent.blocking == Some(true) { Wait::Rest } else { Wait::Commit };
    Ok((wait, history))
}

/// Whether an accepted mode covers what workflows produce. `text` is what clients of earlier
/// generations still send.
fn is_produced(mode: &str) -> bool {
    let mode = mode.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match mode.as_str() {
        "*/*" | "*" | "text" | "data" => true,
        mode => match mode.strip_suffix("/*") {
            Some(family) => OUTPUT_MODES.iter().any(|ours| ours.split('/').next() == Some(family)),
            None => OUTPUT_MODES.contains(&mode),
        },
    }
}

fn history(length: Option<i64>, path: &str) -> Result<usize, Fault> {
    match length {
        None => Ok(HISTORY_MESSAGES_MAX),
        Some(length) => usize::try_from(length).map_err(|_| {
            let why = format!("{path}: {length} is no number of messages");
            Fault::param(path, why, "send 0 for none, a positive number, or leave it out")
        }),
    }
}

/// The position after which a stream goes on, as browsers and proxies send it.
fn last_event(headers: &HeaderMap) -> Result<Option<Pos>, Fault> {
    let Some(sent) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let pos = sent.to_str().ok().and_then(|text| text.trim().parse().ok());
    pos.map(Some).ok_or_else(|| {
        Fault::new(
            Kind::InvalidParams,
            Code::InvalidRequest,
            "the header Last-Event-ID is not a position",
            "repeat the id of the last event that was received, or 0 for the beginning",
        )
    })
}

fn no_push() -> Fault {
    Fault::new(
        Kind::PushNotificationNotSupported,
        Code::InvalidRequest,
        "this agent sends no push notifications",
        "follow the task with message/stream or tasks/resubscribe",
    )
}

#[cfg(test)]
mod tests;
