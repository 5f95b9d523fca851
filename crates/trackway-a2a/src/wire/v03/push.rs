//! Parses push notification configurations.

use serde::Deserialize;

use crate::{
    fault::Fault,
    ops::{Authentication, Call, Push},
    version::Generation,
    wire::object::Object,
};

/// The id of a configuration that a client sets without an id. In 0.3 a task has one of these.
const DEFAULT_ID: &str = "default";

/// `tasks/pushNotificationConfig/set`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetPushParams {
    task_id: String,
    push_notification_config: Object<PushConfig>,
}

/// `tasks/pushNotificationConfig/get` and `…/delete`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushIdParams {
    pub(crate) id: String,
    pub(crate) push_notification_config_id: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct PushConfig {
    id: Option<String>,
    url: String,
    token: Option<String>,
    authentication: Option<Object<Schemes>>,
}

#[derive(Deserialize)]
struct Schemes {
    #[serde(default)]
    schemes: Vec<String>,
    credentials: Option<String>,
}

impl SetPushParams {
    pub(crate) fn call(self) -> Result<Call, Fault> {
        let push = self.push_notification_config.0.push("/params/pushNotificationConfig")?;
        Ok(Call::SetPush { task: self.task_id, push: Box::new(push) })
    }
}

/// It holds secrets.
impl std::fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PushConfig(…)")
    }
}

impl PushConfig {
    /// `place` is its location in the request, for the fault.
    pub(crate) fn push(self, place: &str) -> Result<Push, Fault> {
        let authentication = match self.authentication.map(|sent| sent.0) {
            None => None,
            // A notification carries one Authorization header, so it uses the first scheme.
            Some(Schemes { schemes, credentials }) => {
                match (schemes.into_iter().next(), credentials) {
                    (Some(scheme), credentials) => Some(Authentication { scheme, credentials }),
                    // Some clients send an empty object.
                    (None, None) => None,
                    (None, Some(_)) => {
                        let path = format!("{place}/authentication/schemes");
                        let why = format!("{path}: it is empty");
                        return Err(Fault::param(path, why, "send a scheme, for example Bearer"));
                    }
                }
            }
        };
        Ok(Push {
            id: Some(self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| DEFAULT_ID.to_owned())),
            url: self.url,
            token: self.token.filter(|token| !token.is_empty()),
            authentication,
            generation: Generation::V03,
        })
    }
}
