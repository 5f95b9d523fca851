//! From parameters to calls.

use trackway_domain::Position;

use super::{
    message_parsing::parse_incoming_message,
    push_params::PushIdParams,
    request_params::{SendParams, TaskIdParams, TaskQueryParams},
};
use crate::{
    error::A2aError,
    operations::{
        AgentCall, EndedTaskSubscriptionPolicy, HistoryLength, IncomingMessage, PageRequest, SendWaitFor,
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
    incoming.push = match configuration.push_notification_config {
        Some(config) => Some(config.0.into_push_config("/params/configuration/pushNotificationConfig")?),
        None => None,
    };
    let path = "/params/configuration/historyLength";
    let history = request_options::history_length_or_default(configuration.history_length, path)?;
    let wait = if configuration.blocking == Some(true) { SendWaitFor::Idle } else { SendWaitFor::Commit };
    Ok((Box::new(incoming), wait, history))
}

pub(crate) fn parse_get_task(params: TaskQueryParams) -> Result<AgentCall, A2aError> {
    let history = request_options::history_length_or_default(params.history_length, "/params/historyLength")?;
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
        ended: EndedTaskSubscriptionPolicy::ReturnTask,
        history,
    }
}

pub(crate) fn parse_get_push(params: PushIdParams) -> AgentCall {
    AgentCall::GetPush { task: params.id, id: params.push_notification_config_id }
}

pub(crate) fn parse_list_pushes(params: TaskIdParams) -> AgentCall {
    AgentCall::ListPushes { task: params.id, page: PageRequest::default() }
}

pub(crate) fn parse_remove_push(params: PushIdParams) -> Result<AgentCall, A2aError> {
    let path = "/params/pushNotificationConfigId";
    let id = params.push_notification_config_id.ok_or_else(|| {
        let why = "pushNotificationConfigId is missing";
        A2aError::invalid_param_error(path, why, "send the id of the configuration")
    })?;
    Ok(AgentCall::RemovePush { task: params.id, id })
}

#[cfg(test)]
mod tests;
