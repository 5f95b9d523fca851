//! The service of protocol 1.0.

mod protobuf_card;
mod protobuf_decode;
mod protobuf_encode;
mod protobuf_push;

use std::sync::Arc;

use axum::{Router, http::HeaderMap};
use trackway_domain::SessionId;

use self::{
    protobuf_card::encode_protobuf_card,
    protobuf_decode::decode_incoming_message,
    protobuf_encode::{
        decode_state_filter, encode_direct_reply, encode_send_response, encode_stream_item, encode_task_page,
        encode_task_response,
    },
};
use super::{
    grpc_call::{AgentRequest, encode_empty_response, page_request},
    grpc_service::GrpcService,
    pb::v1 as pb,
    protobuf_value::{self, non_empty_text},
};
use crate::{
    error::A2aError,
    operations::{
        AgentCall, AnonymousCardAccess, EndedTaskSubscriptionPolicy, HistoryLength, IncomingMessage,
        SendWaitFor, TaskQuery,
    },
    protocol_version::ProtocolVersion,
    request_options,
    server::A2aServer,
};

pub(super) fn grpc_v1_router(door: Arc<A2aServer>) -> Router {
    GrpcService::new(door, ProtocolVersion::V1, "lf.a2a.v1.A2AService")
        .add_unary_method("SendMessage", parse_send_message, encode_send_response)
        .add_streaming_method(
            "SendStreamingMessage",
            parse_stream_message,
            encode_stream_item,
            encode_direct_reply,
        )
        .add_unary_method("GetTask", parse_get_task, encode_task_response)
        .add_unary_method("ListTasks", parse_list_tasks, encode_task_page)
        .add_unary_method("CancelTask", parse_cancel_task, encode_task_response)
        .add_streaming_method(
            "SubscribeToTask",
            parse_subscribe_to_task,
            encode_stream_item,
            encode_direct_reply,
        )
        .add_unary_method(
            "CreateTaskPushNotificationConfig",
            protobuf_push::parse_set_push,
            protobuf_push::encode_push_config_response,
        )
        .add_unary_method(
            "GetTaskPushNotificationConfig",
            protobuf_push::parse_get_push,
            protobuf_push::encode_push_config_response,
        )
        .add_unary_method(
            "ListTaskPushNotificationConfigs",
            protobuf_push::parse_list_pushes,
            protobuf_push::encode_push_list_response,
        )
        .add_unary_method(
            "DeleteTaskPushNotificationConfig",
            protobuf_push::parse_remove_push,
            encode_empty_response,
        )
        .add_card_method("GetExtendedAgentCard", parse_get_extended_card, encode_protobuf_card)
        .into_router()
}

fn parse_send_message(request: pb::SendMessageRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    let (incoming, wait, history) = parse_message_request(request)?;
    Ok(AgentCall::Send { incoming, wait, history })
}

fn parse_stream_message(request: pb::SendMessageRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    let (incoming, _, history) = parse_message_request(request)?;
    Ok(AgentCall::Stream { incoming, history })
}

fn parse_get_task(request: pb::GetTaskRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    let history = parse_history_length(request.history_length, "/params/historyLength")?;
    Ok(AgentCall::Get { task: require_non_empty_id(request.id, "id")?, history })
}

fn parse_cancel_task(request: pb::CancelTaskRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    Ok(AgentCall::Cancel { task: require_non_empty_id(request.id, "id")? })
}

fn parse_subscribe_to_task(
    request: pb::SubscribeToTaskRequest,
    headers: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let task = require_non_empty_id(request.id, "id")?;
    let after = request_options::last_event_id_position(headers)?;
    let history = request_options::HISTORY_MESSAGES_MAX;
    Ok(AgentCall::Subscribe { task, after, ended: EndedTaskSubscriptionPolicy::Refuse, history })
}

fn parse_get_extended_card(_: pb::GetExtendedAgentCardRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    Ok(AgentCall::ExtendedCard { strangers: AnonymousCardAccess::Allowed })
}

fn parse_message_request(
    request: pb::SendMessageRequest,
) -> Result<(Box<IncomingMessage>, SendWaitFor, HistoryLength), A2aError> {
    let message = request.message.ok_or_else(|| {
        A2aError::invalid_param_error("/params/message", "message is missing", "send a message")
    })?;
    let mut incoming = decode_incoming_message(message)?;
    let configuration = request.configuration.unwrap_or_default();
    incoming.accepted_modes = configuration.accepted_output_modes;
    let place = "/params/configuration/taskPushNotificationConfig";
    let push = configuration.task_push_notification_config;
    incoming.push = push.map(|config| protobuf_push::parse_push_config(config, place)).transpose()?;
    let history = parse_history_length(configuration.history_length, "/params/configuration/historyLength")?;
    let wait = if configuration.return_immediately { SendWaitFor::Commit } else { SendWaitFor::Idle };
    Ok((Box::new(incoming), wait, history))
}

fn parse_list_tasks(request: pb::ListTasksRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    let session = non_empty_text(request.context_id).as_deref().map(SessionId::new).transpose();
    let session = session.map_err(|bad| {
        let why = format!("contextId: {bad}");
        A2aError::invalid_param_error("/params/contextId", why, "send the contextId of a task, or none")
    })?;
    let state = decode_state_filter(request.status).map_err(|number| {
        let why = format!("status: {number} is not a state");
        A2aError::invalid_param_error("/params/status", why, "send a state such as TASK_STATE_WORKING")
    })?;
    let since = match request.status_timestamp_after {
        None => None,
        Some(moment) => Some(protobuf_value::decode_timestamp(moment).ok_or_else(|| {
            let why = "statusTimestampAfter: it is out of range";
            A2aError::invalid_param_error("/params/statusTimestampAfter", why, "send a moment, or none")
        })?),
    };
    let page_size = request.page_size.map(i64::from);
    let query = TaskQuery { session, state, since, page_size, page_token: request.page_token };
    let history = parse_history_length(request.history_length, "/params/historyLength")?;
    let artifacts = request.include_artifacts == Some(true);
    Ok(AgentCall::List { query: Box::new(query), history, artifacts })
}

fn parse_history_length(length: Option<i32>, path: &str) -> Result<HistoryLength, A2aError> {
    request_options::history_length_or_default(length.map(i64::from), path)
}

/// A required id. Protobuf does not distinguish an empty text from an absent one.
fn require_non_empty_id(sent: String, field: &str) -> Result<String, A2aError> {
    non_empty_text(sent).ok_or_else(|| {
        let why = format!("{field} is missing");
        A2aError::invalid_param_error(format!("/params/{field}"), why, "send the id")
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
