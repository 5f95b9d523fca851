//! From requests to calls.

use trackway_a2a_wire::Dialect;
use trackway_domain::{Pos, SessionId, Timestamp};

use super::{
    incoming::incoming,
    params::{GetParams, ListParams, ListPushesParams, PushIdParams, SendParams, TaskParams},
    push::{PushConfig, given},
};
use crate::{
    asked,
    fault::Fault,
    ops::{Call, Ended, History, Incoming, PageOf, Query, Wait},
};

pub(crate) fn send(params: SendParams) -> Result<Call, Fault> {
    let (incoming, wait, history) = sent(params)?;
    Ok(Call::Send { incoming, wait, history })
}

pub(crate) fn stream(params: SendParams) -> Result<Call, Fault> {
    let (incoming, _, history) = sent(params)?;
    Ok(Call::Stream { incoming, history })
}

fn sent(params: SendParams) -> Result<(Box<Incoming>, Wait, History), Fault> {
    let mut incoming = incoming(params.message.0)?;
    let configuration = params.configuration.map(|sent| sent.0).unwrap_or_default();
    incoming.accepted = configuration.accepted_output_modes.unwrap_or_default();
    let place = "/params/configuration/taskPushNotificationConfig";
    incoming.push = match configuration.task_push_notification_config {
        Some(config) => Some(config.0.push(place)?),
        None => None,
    };
    let length = configuration.history_length.map(|length| length.0);
    let history = asked::history(length, "/params/configuration/historyLength")?;
    let wait =
        if configuration.return_immediately == Some(true) { Wait::Commit } else { Wait::Rest };
    Ok((Box::new(incoming), wait, history))
}

pub(crate) fn get(params: GetParams) -> Result<Call, Fault> {
    let history =
        asked::history(params.history_length.map(|length| length.0), "/params/historyLength")?;
    Ok(Call::Get { task: params.id, history })
}

pub(crate) fn cancel(params: TaskParams) -> Call {
    Call::Cancel { task: params.id }
}

pub(crate) fn subscribe(params: TaskParams, after: Option<Pos>) -> Call {
    let history = asked::HISTORY_MESSAGES_MAX;
    Call::Subscribe { task: params.id, after, ended: Ended::Refused, history }
}

pub(crate) fn list(params: ListParams) -> Result<Call, Fault> {
    let session = given(params.context_id).as_deref().map(SessionId::new).transpose();
    let session = session.map_err(|bad| {
        let why = format!("contextId: {bad}");
        Fault::param("/params/contextId", why, "send the contextId of a task, or none")
    })?;
    let state = match given(params.status).as_deref() {
        // An unspecified state in protobuf means no filter.
        None | Some("TASK_STATE_UNSPECIFIED") => None,
        Some(name) => Some(Dialect::V1.state_named(name).ok_or_else(|| {
            let why = format!("status: {name:?} is not a state");
            Fault::param("/params/status", why, "send a name such as TASK_STATE_WORKING")
        })?),
    };
    let since = given(params.status_timestamp_after).as_deref().map(moment).transpose()?;
    let query = Query {
        session,
        state,
        since,
        page_size: params.page_size.map(|size| size.0),
        page_token: params.page_token.unwrap_or_default(),
    };
    let history =
        asked::history(params.history_length.map(|length| length.0), "/params/historyLength")?;
    let artifacts = params.include_artifacts == Some(true);
    Ok(Call::List { query: Box::new(query), history, artifacts })
}

fn moment(text: &str) -> Result<Timestamp, Fault> {
    text.parse().map_err(|_| {
        let why = format!("statusTimestampAfter: {text:?} is not a moment");
        let next = "send RFC 3339, for example 2026-01-31T12:00:00.000Z";
        Fault::param("/params/statusTimestampAfter", why, next)
    })
}

pub(crate) fn set_push(params: PushConfig) -> Result<Call, Fault> {
    let task = given(params.task_id.clone()).ok_or_else(|| {
        Fault::param("/params/taskId", "taskId is missing", "send the id of the task")
    })?;
    Ok(Call::SetPush { task, push: Box::new(params.push("/params")?) })
}

pub(crate) fn get_push(params: PushIdParams) -> Call {
    Call::GetPush { task: params.task_id, id: Some(params.id) }
}

pub(crate) fn list_pushes(params: ListPushesParams) -> Call {
    let size = params.page_size.map(|size| size.0);
    let page = PageOf { size, token: params.page_token.unwrap_or_default() };
    Call::ListPushes { task: params.task_id, page }
}

pub(crate) fn remove_push(params: PushIdParams) -> Call {
    Call::RemovePush { task: params.task_id, id: params.id }
}

#[cfg(test)]
mod tests;
