//! The service of protocol 0.3, which has only one agent: the default agent.

#![expect(clippy::needless_pass_by_value, reason = "every method takes its message by value")]

mod card;
mod decode;
mod encode;
mod name;
mod push;

use std::sync::Arc;

use axum::{Router, http::HeaderMap};

use self::{
    card::encode_card,
    decode::decode_message,
    encode::{encode_direct_reply, encode_send_response, encode_stream_item, encode_task_response},
};
use super::{
    pb::v03 as pb,
    perform::{AgentRequest, encode_empty, page_of},
    service::Service,
    value::given,
};
use crate::{
    asked,
    door::Door,
    fault::Fault,
    ops::{Call, Ended, History, Incoming, Strangers, Wait},
    version::Generation,
};

pub(super) fn service(door: Arc<Door>) -> Router {
    Service::new(door, Generation::V03, "a2a.v1.A2AService")
        .unary("SendMessage", parse_send, encode_send_response)
        .streaming("SendStreamingMessage", parse_stream, encode_stream_item, encode_direct_reply)
        .unary("GetTask", parse_get, encode_task_response)
        .unary("CancelTask", parse_cancel, encode_task_response)
        .streaming("TaskSubscription", parse_subscribe, encode_stream_item, encode_direct_reply)
        .unary("CreateTaskPushNotificationConfig", push::parse_set, push::encode_config_response)
        .unary("GetTaskPushNotificationConfig", push::parse_get, push::encode_config_response)
        .unary("ListTaskPushNotificationConfig", push::parse_list, push::encode_list_response)
        .unary("DeleteTaskPushNotificationConfig", push::parse_remove, encode_empty)
        .card("GetAgentCard", parse_extended_card, |card, _| encode_card(card))
        .into_router()
}

fn parse_send(asked: pb::SendMessageRequest, _: &HeaderMap) -> Result<Call, Fault> {
    let (incoming, wait, history) = parse_message_request(asked)?;
    Ok(Call::Send { incoming, wait, history })
}

fn parse_stream(asked: pb::SendMessageRequest, _: &HeaderMap) -> Result<Call, Fault> {
    let (incoming, _, history) = parse_message_request(asked)?;
    Ok(Call::Stream { incoming, history })
}

fn parse_get(asked: pb::GetTaskRequest, _: &HeaderMap) -> Result<Call, Fault> {
    let history = parse_history(asked.history_length, "/params/historyLength")?;
    Ok(Call::Get { task: name::task(&asked.name, "name")?, history })
}

fn parse_cancel(asked: pb::CancelTaskRequest, _: &HeaderMap) -> Result<Call, Fault> {
    Ok(Call::Cancel { task: name::task(&asked.name, "name")? })
}

fn parse_subscribe(asked: pb::TaskSubscriptionRequest, headers: &HeaderMap) -> Result<Call, Fault> {
    let task = name::task(&asked.name, "name")?;
    let after = asked::last_event(headers)?;
    let history = asked::HISTORY_MESSAGES_MAX;
    Ok(Call::Subscribe { task, after, ended: Ended::Shown, history })
}

fn parse_extended_card(_: pb::GetAgentCardRequest, _: &HeaderMap) -> Result<Call, Fault> {
    Ok(Call::ExtendedCard { strangers: Strangers::Refused })
}

fn parse_message_request(
    asked: pb::SendMessageRequest,
) -> Result<(Box<Incoming>, Wait, History), Fault> {
    let message = asked
        .request
        .ok_or_else(|| Fault::param("/params/message", "message is missing", "send a message"))?;
    let mut incoming = decode_message(message)?;
    let configuration = asked.configuration.unwrap_or_default();
    incoming.accepted = configuration.accepted_output_modes;
    let place = "/params/configuration/pushNotification";
    let push = configuration.push_notification;
    incoming.push = push.map(|config| push::parse_config(config, place)).transpose()?;
    let history =
        parse_history(configuration.history_length, "/params/configuration/historyLength")?;
    let wait = if configuration.blocking { Wait::Rest } else { Wait::Commit };
    Ok((Box::new(incoming), wait, history))
}

/// This generation does not distinguish zero from an absent number, so zero counts as absent.
fn parse_history(length: i32, path: &str) -> Result<History, Fault> {
    asked::history((length != 0).then_some(i64::from(length)), path)
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
