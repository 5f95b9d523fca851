//! From parameters to calls.

use trackway_domain::Pos;

use super::{
    incoming::incoming,
    params::{SendParams, TaskIdParams, TaskQueryParams},
    push::PushIdParams,
};
use crate::{
    asked,
    fault::Fault,
    ops::{Call, Ended, History, Incoming, PageOf, Wait},
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
    incoming.push = match configuration.push_notification_config {
        Some(config) => Some(config.0.push("/params/configuration/pushNotificationConfig")?),
        None => None,
    };
    let path = "/params/configuration/historyLength";
    let history = asked::history(configuration.history_length, path)?;
    let wait = if configuration.blocking == Some(true) { Wait::Rest } else { Wait::Commit };
    Ok((Box::new(incoming), wait, history))
}

pub(crate) fn get(params: TaskQueryParams) -> Result<Call, Fault> {
    let history = asked::history(params.history_length, "/params/historyLength")?;
    Ok(Call::Get { task: params.id, history })
}

pub(crate) fn cancel(params: TaskIdParams) -> Call {
    Call::Cancel { task: params.id }
}

pub(crate) fn subscribe(params: TaskIdParams, after: Option<Pos>) -> Call {
    let history = asked::HISTORY_MESSAGES_MAX;
    Call::Subscribe { task: params.id, after, ended: Ended::Shown, history }
}

pub(crate) fn get_push(params: PushIdParams) -> Call {
    Call::GetPush { task: params.id, id: params.push_notification_config_id }
}

pub(crate) fn list_pushes(params: TaskIdParams) -> Call {
    Call::ListPushes { task: params.id, page: PageOf::default() }
}

pub(crate) fn remove_push(params: PushIdParams) -> Result<Call, Fault> {
    let path = "/params/pushNotificationConfigId";
    let id = params.push_notification_config_id.ok_or_else(|| {
        let why = "pushNotificationConfigId is missing";
        Fault::param(path, why, "send the id of the configuration")
    })?;
    Ok(Call::RemovePush { task: params.id, id })
}

#[cfg(test)]
mod tests;
