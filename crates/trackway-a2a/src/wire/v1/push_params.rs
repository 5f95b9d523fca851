//! Parses push notification configurations.

use serde::Deserialize;

use crate::{
    error::A2aError,
    operations::{PushAuthentication, PushNotificationConfig},
    protocol_version::ProtocolVersion,
    wire::json_object::JsonObject,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushConfigParams {
    pub(crate) tenant: Option<String>,
    id: Option<String>,
    #[serde(alias = "task_id")]
    pub(crate) task_id: Option<String>,
    url: Option<String>,
    token: Option<String>,
    authentication: Option<JsonObject<AuthenticationParams>>,
}

#[derive(Deserialize)]
struct AuthenticationParams {
    scheme: Option<String>,
    credentials: Option<String>,
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
        let url = self.url.unwrap_or_default();
        if url.is_empty() {
            let path = format!("{pointer}/url");
            return Err(A2aError::invalid_param_error(
                path.clone(),
                format!("{path}: it is missing"),
                "send the address that notifications go to",
            ));
        }
        let authentication = match self.authentication.map(|sent| sent.0) {
            None => None,
            Some(AuthenticationParams { scheme: Some(scheme), credentials }) if !scheme.is_empty() => {
                Some(PushAuthentication { scheme, credentials: non_empty_text(credentials) })
            }
            Some(_) => {
                let path = format!("{pointer}/authentication/scheme");
                let why = format!("{path}: it is missing");
                return Err(A2aError::invalid_param_error(path, why, "send the scheme, for example Bearer"));
            }
        };
        Ok(PushNotificationConfig {
            id: non_empty_text(self.id),
            url,
            token: non_empty_text(self.token),
            authentication,
            generation: ProtocolVersion::V1,
        })
    }
}

/// An empty text counts as absent.
pub(super) fn non_empty_text(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
