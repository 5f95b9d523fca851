//! The service of protocol 0.3, which has only one agent: the default agent.

#![expect(clippy::needless_pass_by_value, reason = "every method takes its message by value")]

mod card;
mod decode;
mod encode;
mod push;
mod resource_name;

use std::sync::Arc;

use axum::{Router, http::HeaderMap};

use self::{
    card::encode_card,
    decode::decode_message,
    encode::{encode_direct_reply, encode_send_response, encode_stream_item, encode_task_response},
};
use super::{
    call::{AgentRequest, encode_empty, page_request},
    pb::v03 as pb,
    protobuf_value::non_empty,
    service::GrpcService,
};
use crate::{
    error::A2aError,
    operations::{AgentCall, AnonymousAccess, EndedTaskPolicy, HistoryLength, IncomingMessage, WaitFor},
    protocol_version::ProtocolVersion,
    request_options,
    server::A2aServer,
};

pub(super) fn v03_service(door: Arc<A2aServer>) -> Router {
    GrpcService::new(door, ProtocolVersion::V03, "a2a.v1.A2AService")
        .add_unary_method("SendMessage", parse_send, encode_send_response)
        .add_streaming_method("SendStreamingMessage", parse_stream, encode_stream_item, encode_direct_reply)
        .add_unary_method("GetTask", parse_get, encode_task_response)
        .add_unary_method("CancelTask", parse_cancel, encode_task_response)
        .add_streaming_method("TaskSubscription", parse_subscribe, encode_stream_item, encode_direct_reply)
        .add_unary_method("CreateTaskPushNotificationConfig", push::parse_set, push::encode_config_response)
        .add_unary_method("GetTaskPushNotificationConfig", push::parse_get, push::encode_config_response)
        .add_unary_method("ListTaskPushNotificationConfig", push::parse_list, push::encode_list_response)
        .add_unary_method("DeleteTaskPushNotificationConfig", push::parse_remove, encode_empty)
        .add_card_method("GetAgentCard", parse_extended_card, |card, _| encode_card(card))
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
    Ok(AgentCall::Get { task: resource_name::parse_task_name(&request.name, "name")?, history })
}

fn parse_cancel(request: pb::CancelTaskRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    Ok(AgentCall::Cancel { task: resource_name::parse_task_name(&request.name, "name")? })
}

fn parse_subscribe(request: pb::TaskSubscriptionRequest, headers: &HeaderMap) -> Result<AgentCall, A2aError> {
    let task = resource_name::parse_task_name(&request.name, "name")?;
    let after = request_options::last_event_position(headers)?;
    let history = request_options::HISTORY_MESSAGES_MAX;
    Ok(AgentCall::Subscribe { task, after, ended: EndedTaskPolicy::ReturnTask, history })
}

fn parse_extended_card(_: pb::GetAgentCardRequest, _: &HeaderMap) -> Result<AgentCall, A2aError> {
    Ok(AgentCall::ExtendedCard { strangers: AnonymousAccess::Denied })
}

fn parse_message_request(
    request: pb::SendMessageRequest,
) -> Result<(Box<IncomingMessage>, WaitFor, HistoryLength), A2aError> {
    let message = request
        .request
        .ok_or_else(|| A2aError::invalid_param("/params/message", "message is missing", "send a message"))?;
    let mut incoming = decode_message(message)?;
    let configuration = request.configuration.unwrap_or_default();
    incoming.accepted_modes = configuration.accepted_output_modes;
    let place = "/params/configuration/pushNotification";
    let push = configuration.push_notification;
    incoming.push = push.map(|config| push::parse_config(config, place)).transpose()?;
    let history = parse_history(configuration.history_length, "/params/configuration/historyLength")?;
    let wait = if configuration.blocking { WaitFor::Idle } else { WaitFor::Commit };
    Ok((Box::new(incoming), wait, history))
}

/// This generation does not distinguish zero from an absent number, so zero counts as absent.
fn parse_history(length: i32, path: &str) -> Result<HistoryLength, A2aError> {
    request_options::history_length((length != 0).then_some(i64::from(length)), path)
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
