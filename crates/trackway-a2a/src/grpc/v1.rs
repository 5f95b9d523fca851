//! The service of protocol 1.0.

mod card;
mod decode;
mod encode;
mod push;

use std::sync::Arc;

use axum::{Router, http::HeaderMap};
use trackway_domain::SessionId;

use self::{
    card::encode_card,
    decode::decode_message,
    encode::{
        decode_state_filter, encode_direct_reply, encode_page, encode_send_response, encode_stream_item,
        encode_task_response,
    },
};
use super::{
    call::{AgentRequest, encode_empty, page_request},
    pb::v1 as pb,
    protobuf_value::{self, non_empty},
    service::GrpcService,
};
use crate::{
    error::A2aError,
    operations::{
        AgentCall, AnonymousAccess, EndedTaskPolicy, HistoryLength, IncomingMessage, TaskQuery, WaitFor,
    },
    protocol_version::ProtocolVersion,
    request_options,
    server::A2aServer,
};

pub(super) fn v1_service(door: Arc<A2aServer>) -> Router {
    GrpcService::new(door, ProtocolVersion::V1, "lf.a2a.v1.A2AService")
        .add_unary_method("SendMessage", parse_send, encode_send_response)
        .add_streaming_method("SendStreamingMessage", parse_stream, encode_stream_item, encode_direct_reply)
        .add_unary_method("GetTask", parse_get, encode_task_response)
        .add_unary_method("ListTasks", parse_list, encode_page)
        .add_unary_method("CancelTask", parse_cancel, encode_task_response)
        .add_streaming_method("SubscribeToTask", parse_subscribe, encode_stream_item, encode_direct_reply)
        .add_unary_method("CreateTaskPushNotificationConfig", push::parse_set, push::encode_config_response)
        .add_unary_method("GetTaskPushNotificationConfig", push::parse_get, push::encode_config_response)
        .add_unary_method("ListTaskPushNotificationConfigs", push::parse_list, push::encode_list_response)
        .add_unary_method("DeleteTaskPushNotificationConfig", push::parse_remove, encode_empty)
        .add_card_method("GetExtendedAgentCard", parse_extended_card, encode_card)
        .into_router()
}

fn parse_send(request: pb::SendMessageRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    let (incoming, wait, history) = parse_message_request(request)?;
    Ok(AgentCall::Send { incoming, wait, history })
}

fn parse_stream(request: pb::SendMessageRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    let (incoming, _, history) = parse_message_request(request)?;
    Ok(AgentCall::Stream { incoming, history })
}

fn parse_get(request: pb::GetTaskRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    let history = parse_history(request.history_length, "/params/historyLength")?;
    Ok(AgentCall::Get { task: required_id(request.id, "id")?, history })
}

fn parse_cancel(request: pb::CancelTaskRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    Ok(AgentCall::Cancel { task: required_id(request.id, "id")? })
}

fn parse_subscribe(request: pb::SubscribeToTaskRequest, headers: &HeaderMap) -> Result<AgentCall, A2aError> {
    let task = required_id(request.id, "id")?;
    let after = request_options::last_event_position(headers)?;
    let history = request_options::HISTORY_MESSAGES_MAX;
    Ok(AgentCall::Subscribe { task, after, ended: EndedTaskPolicy::Refuse, history })
}

fn parse_extended_card(_: pb::GetExtendedAgentCardRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    Ok(AgentCall::ExtendedCard { strangers: AnonymousAccess::Allowed })
}

fn parse_message_request(
    request: pb::SendMessageRequest,
) -> Result<(Box<IncomingMessage>, WaitFor, HistoryLength), A2aError> {
    let message = request
        .message
        .ok_or_else(|| A2aError::invalid_param("/params/message", "message is missing", "send a message"))?;
    let mut incoming = decode_message(message)?;
    let configuration = request.configuration.unwrap_or_default();
    incoming.accepted_modes = configuration.accepted_output_modes;
    let place = "/params/configuration/taskPushNotificationConfig";
    let push = configuration.task_push_notification_config;
    incoming.push = push.map(|config| push::parse_config(config, place)).transpose()?;
    let history = parse_history(configuration.history_length, "/params/configuration/historyLength")?;
    let wait = if configuration.return_immediately { WaitFor::Commit } else { WaitFor::Idle };
    Ok((Box::new(incoming), wait, history))
}

fn parse_list(request: pb::ListTasksRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    let session = non_empty(request.context_id).as_deref().map(SessionId::new).transpose();
    let session = session.map_err(|bad| {
        let why = format!("contextId: {bad}");
        A2aError::invalid_param("/params/contextId", why, "send the contextId of a task, or none")
    })?;
    let state = decode_state_filter(request.status).map_err(|number| {
        let why = format!("status: {number} is not a state");
        A2aError::invalid_param("/params/status", why, "send a state such as TASK_STATE_WORKING")
    })?;
    let since = match request.status_timestamp_after {
        None => None,
        Some(moment) => Some(protobuf_value::decode_timestamp(moment).ok_or_else(|| {
            let why = "statusTimestampAfter: it is out of range";
            A2aError::invalid_param("/params/statusTimestampAfter", why, "send a moment, or none")
        })?),
    };
    let page_size = request.page_size.map(i64::from);
    let query = TaskQuery { session, state, since, page_size, page_token: request.page_token };
    let history = parse_history(request.history_length, "/params/historyLength")?;
    let artifacts = request.include_artifacts == Some(true);
    Ok(AgentCall::List { query: Box::new(query), history, artifacts })
}

fn parse_history(length: Option<i32>, path: &str) -> Result<HistoryLength, A2aError> {
    request_options::history_length(length.map(i64::from), path)
}

/// A required id. Protobuf does not distinguish an empty text from an absent one.
fn required_id(sent: String, field: &str) -> Result<String, A2aError> {
    non_empty(sent).ok_or_else(|| {
        let why = format!("{field} is missing");
        A2aError::invalid_param(format!("/params/{field}"), why, "send the id")
    })
}

macro_rules! agent_requests {
    ($($request:ident),+ $(,)?) => {
        $(impl AgentRequest for pb::$request {
            fn tenant(&self) -> &str {
                &self.tenant
            }
        })+
    };
}

agent_requests!(
    SendMessageRequest,
    GetTaskRequest,
    ListTasksRequest,
    CancelTaskRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
);

#[cfg(test)]
mod tests;
