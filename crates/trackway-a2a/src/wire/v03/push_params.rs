//! Parses push notification configurations.

use serde::Deserialize;

use crate::{
    error::A2aError,
    operations::{AgentCall, PushAuthentication, PushNotificationConfig},
    protocol_version::ProtocolVersion,
    wire::json_object::JsonObject,
};

/// The id of a configuration that a client sets without an id. In 0.3 a task has one of these.
const DEFAULT_ID: &str = "default";

/// `tasks/pushNotificationConfig/set`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetPushParams {
    task_id: String,
    push_notification_config: JsonObject<PushConfigParams>,
}

/// `tasks/pushNotificationConfig/get` and `…/delete`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushIdParams {
    pub(crate) id: String,
    pub(crate) push_notification_config_id: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct PushConfigParams {
    id: Option<String>,
    url: String,
    token: Option<String>,
    authentication: Option<JsonObject<AuthenticationParams>>,
}

#[derive(Deserialize)]
struct AuthenticationParams {
    #[serde(default)]
    schemes: Vec<String>,
    credentials: Option<String>,
}

impl SetPushParams {
    pub(crate) fn into_set_push_call(self) -> Result<AgentCall, A2aError> {
        let push = self.push_notification_config.0.into_push_config("/params/pushNotificationConfig")?;
        Ok(AgentCall::SetPush { task: self.task_id, push: Box::new(push) })
    }
}

/// It holds secrets.
impl std::fmt::Debug for PushConfigParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PushConfig(…)")
    }
}

impl PushConfigParams {
    /// `pointer` is its location in the request, for the error.
    pub(crate) fn into_push_config(self, pointer: &str) -> Result<PushNotificationConfig, A2aError> {
        let authentication = match self.authentication.map(|sent| sent.0) {
            None => None,
            // A notification carries one Authorization header, so it uses the first scheme.
            Some(AuthenticationParams { schemes, credentials }) => {
                match (schemes.into_iter().next(), credentials) {
                    (Some(scheme), credentials) => Some(PushAuthentication { scheme, credentials }),
                    // Some clients send an empty object.
                    (None, None) => None,
                    (None, Some(_)) => {
                        let path = format!("{pointer}/authentication/schemes");
                        let why = format!("{path}: it is empty");
                        return Err(A2aError::invalid_param_error(
                            path,
                            why,
                            "send a scheme, for example Bearer",
                        ));
                    }
                }
            }
        };
        Ok(PushNotificationConfig {
            id: Some(self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| DEFAULT_ID.to_owned())),
            url: self.url,
            token: self.token.filter(|token| !token.is_empty()),
            authentication,
            generation: ProtocolVersion::V03,
        })
    }
}
