//! The service of protocol 0.3, which has only one agent: the default agent.

#![expect(clippy::needless_pass_by_value, reason = "every method takes its message by value")]

mod protobuf_card;
mod protobuf_decode;
mod protobuf_encode;
mod protobuf_push;
mod resource_name;

use std::sync::Arc;

use axum::{Router, http::HeaderMap};

use self::{
    protobuf_card::encode_protobuf_card,
    protobuf_decode::decode_incoming_message,
    protobuf_encode::{encode_direct_reply, encode_send_response, encode_stream_item, encode_task_response},
};
use super::{
    grpc_call::{AgentRequest, encode_empty_response, page_request},
    grpc_service::GrpcService,
    pb::v03 as pb,
    protobuf_value::non_empty_text,
};
use crate::{
    error::A2aError,
    operations::{
        AgentCall, AnonymousCardAccess, EndedTaskSubscriptionPolicy, HistoryLength, IncomingMessage,
        SendWaitFor,
    },
    protocol_version::ProtocolVersion,
    request_options,
    server::A2aServer,
};

pub(super) fn grpc_v03_router(door: Arc<A2aServer>) -> Router {
    GrpcService::new(door, ProtocolVersion::V03, "a2a.v1.A2AService")
        .add_unary_method("SendMessage", parse_send_message, encode_send_response)
        .add_streaming_method(
            "SendStreamingMessage",
            parse_stream_message,
            encode_stream_item,
            encode_direct_reply,
        )
        .add_unary_method("GetTask", parse_get_task, encode_task_response)
        .add_unary_method("CancelTask", parse_cancel_task, encode_task_response)
        .add_streaming_method(
            "TaskSubscription",
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
            "ListTaskPushNotificationConfig",
            protobuf_push::parse_list_pushes,
            protobuf_push::encode_push_list_response,
        )
        .add_unary_method(
            "DeleteTaskPushNotificationConfig",
            protobuf_push::parse_remove_push,
            encode_empty_response,
        )
        .add_card_method("GetAgentCard", parse_get_extended_card, |card, _| encode_protobuf_card(card))
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
    Ok(AgentCall::Get { task: resource_name::parse_task_resource_name(&request.name, "name")?, history })
}

fn parse_cancel_task(request: pb::CancelTaskRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    Ok(AgentCall::Cancel { task: resource_name::parse_task_resource_name(&request.name, "name")? })
}

fn parse_subscribe_to_task(
    request: pb::TaskSubscriptionRequest,
    headers: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let task = resource_name::parse_task_resource_name(&request.name, "name")?;
    let after = request_options::last_event_id_position(headers)?;
    let history = request_options::HISTORY_MESSAGES_MAX;
    Ok(AgentCall::Subscribe { task, after, ended: EndedTaskSubscriptionPolicy::ReturnTask, history })
}

fn parse_get_extended_card(_: pb::GetAgentCardRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    Ok(AgentCall::ExtendedCard { strangers: AnonymousCardAccess::Denied })
}

fn parse_message_request(
    request: pb::SendMessageRequest,
) -> Result<(Box<IncomingMessage>, SendWaitFor, HistoryLength), A2aError> {
    let message = request.request.ok_or_else(|| {
        A2aError::invalid_param_error("/params/message", "message is missing", "send a message")
    })?;
    let mut incoming = decode_incoming_message(message)?;
    let configuration = request.configuration.unwrap_or_default();
    incoming.accepted_modes = configuration.accepted_output_modes;
    let place = "/params/configuration/pushNotification";
    let push = configuration.push_notification;
    incoming.push = push.map(|config| protobuf_push::parse_push_config(config, place)).transpose()?;
    let history = parse_history_length(configuration.history_length, "/params/configuration/historyLength")?;
    let wait = if configuration.blocking { SendWaitFor::Idle } else { SendWaitFor::Commit };
    Ok((Box::new(incoming), wait, history))
}

/// This generation does not distinguish zero from an absent number, so zero counts as absent.
fn parse_history_length(length: i32, path: &str) -> Result<HistoryLength, A2aError> {
    request_options::history_length_or_default((length != 0).then_some(i64::from(length)), path)
}

impl AgentRequest for pb::SendMessageRequest {}
impl AgentRequest for pb::GetTaskRequest {}
impl AgentRequest for pb::CancelTaskRequest {}
impl AgentRequest for pb::TaskSubscriptionRequest {}
impl AgentRequest for pb::CreateTaskPushNotificationConfigRequest {}
impl AgentRequest for pb::GetTaskPushNotificationConfigRequest {}
impl AgentRequest for pb::ListTaskPushNotificationConfigRequest {}
impl AgentRequest for pb::DeleteTaskPushNotificationConfigRequest {}
impl AgentRequest for pb::GetAgentCardRequest {}

#[cfg(test)]
mod tests;
