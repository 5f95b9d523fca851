//! Push notification configurations as they are read and written.

use super::given;
use crate::{
    fault::Fault,
    grpc::pb::v1 as pb,
    ops::{Authentication, Outcome, Push},
    version::Generation,
};

/// `place` is where it stands in the request, for the fault.
pub(super) fn read(config: pb::TaskPushNotificationConfig, place: &str) -> Result<Push, Fault> {
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

pub(super) fn written(outcome: &Outcome) -> Option<pb::TaskPushNotificationConfig> {
    let Outcome::Push { task, push } = outcome else { return None };
    Some(config(task, push))
}

pub(super) fn list(outcome: &Outcome) -> Option<pb::ListTaskPushNotificationConfigsResponse> {
    let Outcome::Pushes { task, pushes, next } = outcome else { return None };
    let configs = pushes.iter().map(|push| config(task, push)).collect();
    let next_page_token = next.clone();
    Some(pb::ListTaskPushNotificationConfigsResponse { configs, next_page_token })
}

fn config(task: &str, push: &Push) -> pb::TaskPushNotificationConfig {
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
