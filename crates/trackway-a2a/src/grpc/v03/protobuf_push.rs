//! Reads and writes push notification configurations.

use axum::http::HeaderMap;

use super::{non_empty_text, page_request, resource_name};
use crate::{
    error::A2aError,
    grpc::pb::v03 as pb,
    operations::{AgentCall, AgentCallOutcome, PushAuthentication, PushNotificationConfig},
    protocol_version::ProtocolVersion,
};

/// The task is in the name of the configuration, or in the name of its parent, or in both; clients
/// differ.
pub(super) fn parse_set_push(
    request: pb::CreateTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let config = request.config.ok_or_else(|| missing_field_error("/params", "config", "send it"))?;
    let parent = request.parent.strip_suffix("/pushNotificationConfigs").unwrap_or(&request.parent);
    let task = match (parent, resource_name::parse_push_resource_name(&config.name)) {
        ("", Ok((task, _))) => task,
        (parent, _) => resource_name::parse_task_resource_name(parent, "parent")?,
    };
    let sent = config
        .push_notification_config
        .ok_or_else(|| missing_field_error("/params/config", "pushNotificationConfig", "send it"))?;
    let mut push = parse_push_config(sent, "/params/config/pushNotificationConfig")?;
    push.id = push.id.or(non_empty_text(request.config_id));
    Ok(AgentCall::SetPush { task, push: Box::new(push) })
}

pub(super) fn parse_get_push(
    request: pb::GetTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let (task, id) = resource_name::parse_push_resource_name(&request.name)?;
    Ok(AgentCall::GetPush { task, id: Some(id) })
}

pub(super) fn parse_list_pushes(
    request: pb::ListTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let page = page_request(request.page_size, request.page_token);
    Ok(AgentCall::ListPushes {
        task: resource_name::parse_task_resource_name(&request.parent, "parent")?,
        page,
    })
}

pub(super) fn parse_remove_push(
    request: pb::DeleteTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<AgentCall, A2aError> {
    let (task, id) = resource_name::parse_push_resource_name(&request.name)?;
    Ok(AgentCall::RemovePush { task, id })
}

/// `pointer` is its location in the request, for the error.
pub(super) fn parse_push_config(
    config: pb::PushNotificationConfig,
    pointer: &str,
) -> Result<PushNotificationConfig, A2aError> {
    let url = non_empty_text(config.url)
        .ok_or_else(|| missing_field_error(pointer, "url", "send the address that notifications go to"))?;
    let authentication = match config.authentication {
        None => None,
        // A notification carries one Authorization header, so it uses the first scheme.
        Some(sent) => {
            let scheme = sent.schemes.into_iter().next().ok_or_else(|| {
                missing_field_error(pointer, "authentication/schemes", "send a scheme, for example Bearer")
            })?;
            Some(PushAuthentication { scheme, credentials: non_empty_text(sent.credentials) })
        }
    };
    Ok(PushNotificationConfig {
        id: non_empty_text(config.id),
        url,
        token: non_empty_text(config.token),
        authentication,
        generation: ProtocolVersion::V03,
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
) -> Option<pb::ListTaskPushNotificationConfigResponse> {
    let AgentCallOutcome::Pushes { task, pushes, next } = outcome else { return None };
    let configs = pushes.iter().map(|push| encode_push_config(task, push)).collect();
    let next_page_token = next.clone();
    Some(pb::ListTaskPushNotificationConfigResponse { configs, next_page_token })
}

fn encode_push_config(task_id: &str, push: &PushNotificationConfig) -> pb::TaskPushNotificationConfig {
    let authentication = push.authentication.as_ref().map(|known| pb::AuthenticationInfo {
        schemes: vec![known.scheme.clone()],
        credentials: known.credentials.clone().unwrap_or_default(),
    });
    let id = push.id.clone().unwrap_or_default();
    pb::TaskPushNotificationConfig {
        name: resource_name::format_push_resource_name(task_id, &id),
        push_notification_config: Some(pb::PushNotificationConfig {
            id,
            url: push.url.clone(),
            token: push.token.clone().unwrap_or_default(),
            authentication,
        }),
    }
}

fn missing_field_error(pointer: &str, field: &str, next: &'static str) -> A2aError {
    let path = format!("{pointer}/{field}");
    A2aError::invalid_param_error(path.clone(), format!("{path}: it is missing"), next)
}
