//! Reads and writes push notification configurations.

use axum::http::HeaderMap;

use super::{non_empty_text, page_request, require_non_empty_id};
use crate::{
    error::A2aError,
    grpc::pb::v1 as pb,
    operations::{AgentCall, AgentCallOutcome, PushAuthentication, PushNotificationConfig},
    protocol_version::ProtocolVersion,
};

pub(super) fn parse_set_push(
    mut request: pb::TaskPushNotificationConfig,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let task = require_non_empty_id(std::mem::take(&mut request.task_id), "taskId")?;
    Ok(AgentCall::SetPush { task, push: Box::new(parse_push_config(request, "/params")?) })
}

pub(super) fn parse_get_push(
    request: pb::GetTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let task = require_non_empty_id(request.task_id, "taskId")?;
    Ok(AgentCall::GetPush { task, id: Some(require_non_empty_id(request.id, "id")?) })
}

pub(super) fn parse_list_pushes(
    request: pb::ListTaskPushNotificationConfigsRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let page = page_request(request.page_size, request.page_token);
    Ok(AgentCall::ListPushes { task: require_non_empty_id(request.task_id, "taskId")?, page })
}

pub(super) fn parse_remove_push(
    request: pb::DeleteTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let task = require_non_empty_id(request.task_id, "taskId")?;
    Ok(AgentCall::RemovePush { task, id: require_non_empty_id(request.id, "id")? })
}

/// `pointer` is its location in the request, for the error.
pub(super) fn parse_push_config(
    config: pb::TaskPushNotificationConfig,
    pointer: &str,
) -> Result<PushNotificationConfig, A2aError> {
    let missing = |field: &str, next: &'static str| {
        let path = format!("{pointer}/{field}");
        A2aError::invalid_param_error(path.clone(), format!("{path}: it is missing"), next)
    };
    let url = non_empty_text(config.url)
        .ok_or_else(|| missing("url", "send the address that notifications go to"))?;
    let authentication = match config.authentication {
        None => None,
        Some(sent) => {
            let scheme = non_empty_text(sent.scheme)
                .ok_or_else(|| missing("authentication/scheme", "send the scheme, for example Bearer"))?;
            Some(PushAuthentication { scheme, credentials: non_empty_text(sent.credentials) })
        }
    };
    Ok(PushNotificationConfig {
        id: non_empty_text(config.id),
        url,
        token: non_empty_text(config.token),
        authentication,
        generation: ProtocolVersion::V1,
    })
}

pub(super) fn encode_push_config_response(
    outcome: &AgentCallOutcome,
) -> Option<pb::TaskPushNotificationConfig> {
    let AgentCallOutcome::Push { task, push } = outcome else { return None };
    Some(encode_push_config(task, push))
}

pub(super) fn encode_push_list_response(
    outcome: &AgentCallOutcome,
) -> Option<pb::ListTaskPushNotificationConfigsResponse> {
    let AgentCallOutcome::Pushes { task, pushes, next } = outcome else { return None };
    let configs = pushes.iter().map(|push| encode_push_config(task, push)).collect();
    let next_page_token = next.clone();
    Some(pb::ListTaskPushNotificationConfigsResponse { configs, next_page_token })
}

fn encode_push_config(task: &str, push: &PushNotificationConfig) -> pb::TaskPushNotificationConfig {
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
