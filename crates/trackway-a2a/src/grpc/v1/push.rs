//! Reads and writes push notification configurations.

use axum::http::HeaderMap;

use super::{non_empty, page_request, required_id};
use crate::{
    error::A2aError,
    grpc::pb::v1 as pb,
    operations::{AgentCall, CallOutcome, PushAuthentication, PushNotificationConfig},
    protocol_version::ProtocolVersion,
};

pub(super) fn parse_set(
    mut request: pb::TaskPushNotificationConfig,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let task = required_id(std::mem::take(&mut request.task_id), "taskId")?;
    Ok(AgentCall::SetPush { task, push: Box::new(parse_config(request, "/params")?) })
}

pub(super) fn parse_get(
    request: pb::GetTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let task = required_id(request.task_id, "taskId")?;
    Ok(AgentCall::GetPush { task, id: Some(required_id(request.id, "id")?) })
}

pub(super) fn parse_list(
    request: pb::ListTaskPushNotificationConfigsRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let page = page_request(request.page_size, request.page_token);
    Ok(AgentCall::ListPushes { task: required_id(request.task_id, "taskId")?, page })
}

pub(super) fn parse_remove(
    request: pb::DeleteTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let task = required_id(request.task_id, "taskId")?;
    Ok(AgentCall::RemovePush { task, id: required_id(request.id, "id")? })
}

/// `pointer` is its location in the request, for the error.
pub(super) fn parse_config(
    config: pb::TaskPushNotificationConfig,
    pointer: &str,
) -> Result<PushNotificationConfig, A2aError> {
    let missing = |field: &str, next: &'static str| {
        let path = format!("{pointer}/{field}");
        A2aError::invalid_param(path.clone(), format!("{path}: it is missing"), next)
    };
    let url =
        non_empty(config.url).ok_or_else(|| missing("url", "send the address that notifications go to"))?;
    let authentication = match config.authentication {
        None => None,
        Some(sent) => {
            let scheme = non_empty(sent.scheme)
                .ok_or_else(|| missing("authentication/scheme", "send the scheme, for example Bearer"))?;
            Some(PushAuthentication { scheme, credentials: non_empty(sent.credentials) })
        }
    };
    Ok(PushNotificationConfig {
        id: non_empty(config.id),
        url,
        token: non_empty(config.token),
        authentication,
        generation: ProtocolVersion::V1,
    })
}

pub(super) fn encode_config_response(outcome: &CallOutcome) -> Option<pb::TaskPushNotificationConfig> {
    let CallOutcome::Push { task, push } = outcome else { return None };
    Some(encode_config(task, push))
}

pub(super) fn encode_list_response(
    outcome: &CallOutcome,
) -> Option<pb::ListTaskPushNotificationConfigsResponse> {
    let CallOutcome::Pushes { task, pushes, next } = outcome else { return None };
    let configs = pushes.iter().map(|push| encode_config(task, push)).collect();
    let next_page_token = next.clone();
    Some(pb::ListTaskPushNotificationConfigsResponse { configs, next_page_token })
}

fn encode_config(task: &str, push: &PushNotificationConfig) -> pb::TaskPushNotificationConfig {
    let authentication = push.authentication.as_ref().map(|known| pb::AuthenticationInfo {
        scheme: known.scheme.clone(),
        credentials: known.credentials.clone().unwrap_or_default(),
    });
    pb::TaskPushNotificationConfig {
        tenant: String::new(),
        id: push.id.clone().unwrap_or_default(),
        task_id: task.to_owned(),
        url: push.url.clone(),
        token: push.token.clone().unwrap_or_default(),
        authentication,
    }
}
