//! Reads and writes push notification configurations.

use axum::http::HeaderMap;

use super::{given, page_of, required_id};
use crate::{
    fault::Fault,
    grpc::pb::v1 as pb,
    ops::{Authentication, Call, Outcome, Push},
    version::Generation,
};

pub(super) fn parse_set(
    mut asked: pb::TaskPushNotificationConfig,
    _: &HeaderMap,
) -> Result<Call, Fault> {
    let task = required_id(std::mem::take(&mut asked.task_id), "taskId")?;
    Ok(Call::SetPush { task, push: Box::new(parse_config(asked, "/params")?) })
}

pub(super) fn parse_get(
    asked: pb::GetTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<Call, Fault> {
    let task = required_id(asked.task_id, "taskId")?;
    Ok(Call::GetPush { task, id: Some(required_id(asked.id, "id")?) })
}

pub(super) fn parse_list(
    asked: pb::ListTaskPushNotificationConfigsRequest,
    _: &HeaderMap,
) -> Result<Call, Fault> {
    let page = page_of(asked.page_size, asked.page_token);
    Ok(Call::ListPushes { task: required_id(asked.task_id, "taskId")?, page })
}

pub(super) fn parse_remove(
    asked: pb::DeleteTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<Call, Fault> {
    let task = required_id(asked.task_id, "taskId")?;
    Ok(Call::RemovePush { task, id: required_id(asked.id, "id")? })
}

/// `place` is its location in the request, for the fault.
pub(super) fn parse_config(
    config: pb::TaskPushNotificationConfig,
    place: &str,
) -> Result<Push, Fault> {
    let missing = |field: &str, next: &'static str| {
        let path = format!("{place}/{field}");
        Fault::param(path.clone(), format!("{path}: it is missing"), next)
    };
    let url = given(config.url)
        .ok_or_else(|| missing("url", "send the address that notifications go to"))?;
    let authentication = match config.authentication {
        None => None,
        Some(sent) => {
            let scheme = given(sent.scheme).ok_or_else(|| {
                missing("authentication/scheme", "send the scheme, for example Bearer")
            })?;
            Some(Authentication { scheme, credentials: given(sent.credentials) })
        }
    };
    Ok(Push {
        id: given(config.id),
        url,
        token: given(config.token),
        authentication,
        generation: Generation::V1,
    })
}

pub(super) fn encode_config_response(outcome: &Outcome) -> Option<pb::TaskPushNotificationConfig> {
    let Outcome::Push { task, push } = outcome else { return None };
    Some(encode_config(task, push))
}

pub(super) fn encode_list_response(
    outcome: &Outcome,
) -> Option<pb::ListTaskPushNotificationConfigsResponse> {
    let Outcome::Pushes { task, pushes, next } = outcome else { return None };
    let configs = pushes.iter().map(|push| encode_config(task, push)).collect();
    let next_page_token = next.clone();
    Some(pb::ListTaskPushNotificationConfigsResponse { configs, next_page_token })
}

fn encode_config(task: &str, push: &Push) -> pb::TaskPushNotificationConfig {
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
