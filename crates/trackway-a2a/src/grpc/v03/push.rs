//! Reads and writes push notification configurations.

use axum::http::HeaderMap;

use super::{given, name, page_of};
use crate::{
    fault::Fault,
    grpc::pb::v03 as pb,
    ops::{Authentication, Call, Outcome, Push},
    version::Generation,
};

/// The task is in the name of the configuration, or in the name of its parent, or in both; clients
/// differ.
pub(super) fn parse_set(
    asked: pb::CreateTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<Call, Fault> {
    let config = asked.config.ok_or_else(|| missing("/params", "config", "send it"))?;
    let parent = asked.parent.strip_suffix("/pushNotificationConfigs").unwrap_or(&asked.parent);
    let task = match (parent, name::push(&config.name)) {
        ("", Ok((task, _))) => task,
        (parent, _) => name::task(parent, "parent")?,
    };
    let sent = config
        .push_notification_config
        .ok_or_else(|| missing("/params/config", "pushNotificationConfig", "send it"))?;
    let mut push = parse_config(sent, "/params/config/pushNotificationConfig")?;
    push.id = push.id.or(given(asked.config_id));
    Ok(Call::SetPush { task, push: Box::new(push) })
}

pub(super) fn parse_get(
    asked: pb::GetTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<Call, Fault> {
    let (task, id) = name::push(&asked.name)?;
    Ok(Call::GetPush { task, id: Some(id) })
}

pub(super) fn parse_list(
    asked: pb::ListTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<Call, Fault> {
    let page = page_of(asked.page_size, asked.page_token);
    Ok(Call::ListPushes { task: name::task(&asked.parent, "parent")?, page })
}

pub(super) fn parse_remove(
    asked: pb::DeleteTaskPushNotificationConfigRequest,
    _: &HeaderMap,
) -> Result<Call, Fault> {
    let (task, id) = name::push(&asked.name)?;
    Ok(Call::RemovePush { task, id })
}

/// `place` is its location in the request, for the fault.
pub(super) fn parse_config(config: pb::PushNotificationConfig, place: &str) -> Result<Push, Fault> {
    let url = given(config.url)
        .ok_or_else(|| missing(place, "url", "send the address that notifications go to"))?;
    let authentication = match config.authentication {
        None => None,
        // A notification carries one Authorization header, so it uses the first scheme.
        Some(sent) => {
            let scheme = sent.schemes.into_iter().next().ok_or_else(|| {
                missing(place, "authentication/schemes", "send a scheme, for example Bearer")
            })?;
            Some(Authentication { scheme, credentials: given(sent.credentials) })
        }
    };
    Ok(Push {
        id: given(config.id),
        url,
        token: given(config.token),
        authentication,
        generation: Generation::V03,
    })
}

pub(super) fn encode_config_response(outcome: &Outcome) -> Option<pb::TaskPushNotificationConfig> {
    let Outcome::Push { task, push } = outcome else { return None };
    Some(encode_config(task, push))
}

pub(super) fn encode_list_response(
    outcome: &Outcome,
) -> Option<pb::ListTaskPushNotificationConfigResponse> {
    let Outcome::Pushes { task, pushes, next } = outcome else { return None };
    let configs = pushes.iter().map(|push| encode_config(task, push)).collect();
    let next_page_token = next.clone();
    Some(pb::ListTaskPushNotificationConfigResponse { configs, next_page_token })
}

fn encode_config(task: &str, push: &Push) -> pb::TaskPushNotificationConfig {
    let authentication = push.authentication.as_ref().map(|known| pb::AuthenticationInfo {
        schemes: vec![known.scheme.clone()],
        credentials: known.credentials.clone().unwrap_or_default(),
    });
    let id = push.id.clone().unwrap_or_default();
    pb::TaskPushNotificationConfig {
        name: name::push_name(task, &id),
        push_notification_config: Some(pb::PushNotificationConfig {
            id,
            url: push.url.clone(),
            token: push.token.clone().unwrap_or_default(),
            authentication,
        }),
    }
}

fn missing(place: &str, field: &str, next: &'static str) -> Fault {
    let path = format!("{place}/{field}");
    Fault::param(path.clone(), format!("{path}: it is missing"), next)
}
