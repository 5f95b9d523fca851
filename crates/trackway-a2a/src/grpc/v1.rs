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
        decode_state_filter, encode_direct_reply, encode_page, encode_send_response,
        encode_stream_item, encode_task_response,
    },
};
use super::{
    pb::v1 as pb,
    perform::{AgentRequest, encode_empty, page_of},
    service::Service,
    value::{self, given},
};
use crate::{
    asked,
    door::Door,
    fault::Fault,
    ops::{Call, Ended, History, Incoming, Query, Strangers, Wait},
    version::Generation,
};

pub(super) fn service(door: Arc<Door>) -> Router {
    Service::new(door, Generation::V1, "lf.a2a.v1.A2AService")
        .unary("SendMessage", parse_send, encode_send_response)
        .streaming("SendStreamingMessage", parse_stream, encode_stream_item, encode_direct_reply)
        .unary("GetTask", parse_get, encode_task_response)
        .unary("ListTasks", parse_list, encode_page)
        .unary("CancelTask", parse_cancel, encode_task_response)
        .streaming("SubscribeToTask", parse_subscribe, encode_stream_item, encode_direct_reply)
        .unary("CreateTaskPushNotificationConfig", push::parse_set, push::encode_config_response)
        .unary("GetTaskPushNotificationConfig", push::parse_get, push::encode_config_response)
        .unary("ListTaskPushNotificationConfigs", push::parse_list, push::encode_list_response)
        .unary("DeleteTaskPushNotificationConfig", push::parse_remove, encode_empty)
        .card("GetExtendedAgentCard", parse_extended_card, encode_card)
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
    Ok(Call::Get { task: required_id(asked.id, "id")?, history })
}

fn parse_cancel(asked: pb::CancelTaskRequest, _: &HeaderMap) -> Result<Call, Fault> {
    Ok(Call::Cancel { task: required_id(asked.id, "id")? })
}

fn parse_subscribe(asked: pb::SubscribeToTaskRequest, headers: &HeaderMap) -> Result<Call, Fault> {
    let task = required_id(asked.id, "id")?;
    let after = asked::last_event(headers)?;
    let history = asked::HISTORY_MESSAGES_MAX;
    Ok(Call::Subscribe { task, after, ended: Ended::Refused, history })
}

fn parse_extended_card(_: pb::GetExtendedAgentCardRequest, _: &HeaderMap) -> Result<Call, Fault> {
    Ok(Call::ExtendedCard { strangers: Strangers::Served })
}

fn parse_message_request(
    asked: pb::SendMessageRequest,
) -> Result<(Box<Incoming>, Wait, History), Fault> {
    let message = asked
        .message
        .ok_or_else(|| Fault::param("/params/message", "message is missing", "send a message"))?;
    let mut incoming = decode_message(message)?;
    let configuration = asked.configuration.unwrap_or_default();
    incoming.accepted = configuration.accepted_output_modes;
    let place = "/params/configuration/taskPushNotificationConfig";
    let push = configuration.task_push_notification_config;
    incoming.push = push.map(|config| push::parse_config(config, place)).transpose()?;
    let history =
        parse_history(configuration.history_length, "/params/configuration/historyLength")?;
    let wait = if configuration.return_immediately { Wait::Commit } else { Wait::Rest };
    Ok((Box::new(incoming), wait, history))
}

fn parse_list(asked: pb::ListTasksRequest, _: &HeaderMap) -> Result<Call, Fault> {
    let session = given(asked.context_id).as_deref().map(SessionId::new).transpose();
    let session = session.map_err(|bad| {
        let why = format!("contextId: {bad}");
        Fault::param("/params/contextId", why, "send the contextId of a task, or none")
    })?;
    let state = decode_state_filter(asked.status).map_err(|number| {
        let why = format!("status: {number} is not a state");
        Fault::param("/params/status", why, "send a state such as TASK_STATE_WORKING")
    })?;
    let since = match asked.status_timestamp_after {
        None => None,
        Some(moment) => Some(value::timestamp(moment).ok_or_else(|| {
            let why = "statusTimestampAfter: it is out of range";
            Fault::param("/params/statusTimestampAfter", why, "send a moment, or none")
        })?),
    };
    let page_size = asked.page_size.map(i64::from);
    let query = Query { session, state, since, page_size, page_token: asked.page_token };
    let history = parse_history(asked.history_length, "/params/historyLength")?;
    let artifacts = asked.include_artifacts == Some(true);
    Ok(Call::List { query: Box::new(query), history, artifacts })
}

fn parse_history(length: Option<i32>, path: &str) -> Result<History, Fault> {
    asked::history(length.map(i64::from), path)
}

/// A required id. Protobuf does not distinguish an empty text from an absent one.
fn required_id(sent: String, field: &str) -> Result<String, Fault> {
    given(sent).ok_or_else(|| {
        let why = format!("{field} is missing");
        Fault::param(format!("/params/{field}"), why, "send the id")
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
