//! From requests to calls.

use trackway_a2a_wire::JsonDialect;
use trackway_domain::{Position, SessionId, Timestamp};

use super::{
    message_parsing::parse_incoming_message,
    push_params::{PushConfigParams, non_empty_text},
    request_params::{
        GetTaskParams, ListPushesParams, ListTasksParams, PushIdParams, SendParams, TaskIdParams,
    },
};
use crate::{
    error::A2aError,
    operations::{
        AgentCall, EndedTaskSubscriptionPolicy, HistoryLength, IncomingMessage, PageRequest, SendWaitFor,
        TaskQuery,
    },
    request_options,
};

pub(crate) fn parse_send_message(params: SendParams) -> Result<AgentCall, A2aError> {
    let (incoming, wait, history) = parse_message_params(params)?;
    Ok(AgentCall::Send { incoming, wait, history })
}

pub(crate) fn parse_stream_message(params: SendParams) -> Result<AgentCall, A2aError> {
    let (incoming, _, history) = parse_message_params(params)?;
    Ok(AgentCall::Stream { incoming, history })
}

fn parse_message_params(
    params: SendParams,
) -> Result<(Box<IncomingMessage>, SendWaitFor, HistoryLength), A2aError> {
    let mut incoming = parse_incoming_message(params.message.0)?;
    let configuration = params.configuration.map(|sent| sent.0).unwrap_or_default();
    incoming.accepted_modes = configuration.accepted_output_modes.unwrap_or_default();
    let place = "/params/configuration/taskPushNotificationConfig";
    incoming.push = match configuration.task_push_notification_config {
        Some(config) => Some(config.0.into_push_config(place)?),
        None => None,
    };
    let length = configuration.history_length.map(|length| length.0);
    let history = request_options::history_length_or_default(length, "/params/configuration/historyLength")?;
    let wait =
        if configuration.return_immediately == Some(true) { SendWaitFor::Commit } else { SendWaitFor::Idle };
    Ok((Box::new(incoming), wait, history))
}

pub(crate) fn parse_get_task(params: GetTaskParams) -> Result<AgentCall, A2aError> {
    let history = request_options::history_length_or_default(
        params.history_length.map(|length| length.0),
        "/params/historyLength",
    )?;
    Ok(AgentCall::Get { task: params.id, history })
}

pub(crate) fn parse_cancel_task(params: TaskIdParams) -> AgentCall {
    AgentCall::Cancel { task: params.id }
}

pub(crate) fn parse_subscribe_to_task(params: TaskIdParams, after_position: Option<Position>) -> AgentCall {
    let history = request_options::HISTORY_MESSAGES_MAX;
    AgentCall::Subscribe {
        task: params.id,
        after: after_position,
        ended: EndedTaskSubscriptionPolicy::Refuse,
        history,
    }
}

pub(crate) fn parse_list_tasks(params: ListTasksParams) -> Result<AgentCall, A2aError> {
    let session = non_empty_text(params.context_id).as_deref().map(SessionId::new).transpose();
    let session = session.map_err(|bad| {
        let why = format!("contextId: {bad}");
        A2aError::invalid_param_error("/params/contextId", why, "send the contextId of a task, or none")
    })?;
    let state = match non_empty_text(params.status).as_deref() {
        // An unspecified state in protobuf means no filter.
        None | Some("TASK_STATE_UNSPECIFIED") => None,
        Some(name) => Some(JsonDialect::V1.parse_task_state(name).ok_or_else(|| {
            let why = format!("status: {name:?} is not a state");
            A2aError::invalid_param_error("/params/status", why, "send a name such as TASK_STATE_WORKING")
        })?),
    };
    let since =
        non_empty_text(params.status_timestamp_after).as_deref().map(parse_status_timestamp).transpose()?;
    let query = TaskQuery {
        session,
        state,
        since,
        page_size: params.page_size.map(|size| size.0),
        page_token: params.page_token.unwrap_or_default(),
    };
    let history = request_options::history_length_or_default(
        params.history_length.map(|length| length.0),
        "/params/historyLength",
    )?;
    let artifacts = params.include_artifacts == Some(true);
    Ok(AgentCall::List { query: Box::new(query), history, artifacts })
}

fn parse_status_timestamp(text: &str) -> Result<Timestamp, A2aError> {
    text.parse().map_err(|_| {
        let why = format!("statusTimestampAfter: {text:?} is not a moment");
        let next = "send RFC 3339, for example 2026-01-31T12:00:00.000Z";
        A2aError::invalid_param_error("/params/statusTimestampAfter", why, next)
    })
}

pub(crate) fn parse_set_push(params: PushConfigParams) -> Result<AgentCall, A2aError> {
    let task = non_empty_text(params.task_id.clone()).ok_or_else(|| {
        A2aError::invalid_param_error("/params/taskId", "taskId is missing", "send the id of the task")
    })?;
    Ok(AgentCall::SetPush { task, push: Box::new(params.into_push_config("/params")?) })
}

pub(crate) fn parse_get_push(params: PushIdParams) -> AgentCall {
    AgentCall::GetPush { task: params.task_id, id: Some(params.id) }
}

pub(crate) fn parse_list_pushes(params: ListPushesParams) -> AgentCall {
    let size = params.page_size.map(|size| size.0);
    let page = PageRequest { size, token: params.page_token.unwrap_or_default() };
    AgentCall::ListPushes { task: params.task_id, page }
}

pub(crate) fn parse_remove_push(params: PushIdParams) -> AgentCall {
    AgentCall::RemovePush { task: params.task_id, id: params.id }
}

#[cfg(test)]
mod tests;
