//! Parses requests into the types of JSON-RPC, from which everything else is the same.

use serde::Deserialize;
use serde_json::Value;
use trackway_a2a_wire::take_referenced_task_ids;

use crate::{
    error::A2aError,
    operations::AgentCall,
    wire::{
        json_object::JsonObject,
        v03::{self, push_params::PushConfigParams, request_params},
    },
};

/// `message:send` and `message:stream`.
#[derive(Debug, Deserialize)]
pub(crate) struct RestSendParams {
    message: JsonObject<RestMessageParams>,
    configuration: Option<JsonObject<RestSendConfiguration>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RestSendConfiguration {
    #[serde(alias = "accepted_output_modes")]
    accepted_output_modes: Option<Vec<String>>,
    blocking: Option<bool>,
    #[serde(alias = "history_length")]
    history_length: Option<i64>,
    #[serde(alias = "push_notification")]
    push_notification: Option<JsonObject<PushConfigParams>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RestMessageParams {
    #[serde(alias = "message_id")]
    message_id: String,
    role: String,
    content: Vec<JsonObject<RestPartParams>>,
    #[serde(alias = "context_id")]
    context_id: Option<String>,
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    metadata: Option<trackway_domain::Object>,
    extensions: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct RestPartParams {
    text: Option<String>,
    file: Option<JsonObject<RestFileParams>>,
    data: Option<JsonObject<RestDataParams>>,
    metadata: Option<trackway_domain::Object>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RestFileParams {
    #[serde(alias = "file_with_uri")]
    file_with_uri: Option<String>,
    #[serde(alias = "file_with_bytes")]
    file_with_bytes: Option<String>,
    #[serde(alias = "mime_type")]
    mime_type: Option<String>,
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RestDataParams {
    data: Value,
}

impl RestSendParams {
    pub(crate) fn into_send_call(self) -> Result<AgentCall, A2aError> {
        v03::parse_send_message(self.into())
    }

    pub(crate) fn into_stream_call(self) -> Result<AgentCall, A2aError> {
        v03::parse_stream_message(self.into())
    }
}

impl From<RestSendParams> for request_params::SendParams {
    fn from(sent: RestSendParams) -> Self {
        let configuration = sent.configuration.map(|JsonObject(sent)| {
            JsonObject(request_params::SendConfiguration {
                accepted_output_modes: sent.accepted_output_modes,
                // If this is absent it has its default, which clients of this binding intend.
                blocking: sent.blocking,
                // The same is true here: clients send zero for an absent number.
                history_length: sent.history_length.filter(|length| *length != 0),
                push_notification_config: sent.push_notification,
            })
        });
        Self { message: JsonObject(sent.message.0.into()), configuration }
    }
}

impl From<RestMessageParams> for request_params::MessageParams {
    fn from(sent: RestMessageParams) -> Self {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let mut metadata = sent.metadata.unwrap_or_default();
        let references = take_referenced_task_ids(&mut metadata);
        Self {
            kind: None,
            message_id: sent.message_id,
            role: match sent.role.as_str() {
                "ROLE_USER" => "user".to_owned(),
                "ROLE_AGENT" => "agent".to_owned(),
                _ => sent.role,
            },
            parts: sent.content.into_iter().map(|JsonObject(part)| JsonObject(part.into())).collect(),
            context_id: given(sent.context_id),
            task_id: given(sent.task_id),
            metadata: Some(metadata),
            reference_task_ids: Some(references),
            extensions: sent.extensions,
        }
    }
}

impl From<RestPartParams> for request_params::PartParams {
    fn from(sent: RestPartParams) -> Self {
        let kind = match (&sent.text, &sent.file, &sent.data) {
            (Some(_), None, None) => Some("text"),
            (None, Some(_), None) => Some("file"),
            (None, None, Some(_)) => Some("data"),
            // Refused later: a part has one kind.
            _ => None,
        };
        Self {
            kind: kind.map(str::to_owned),
            text: sent.text,
            data: sent.data.map(|JsonObject(data)| data.data),
            file: sent.file.map(|JsonObject(file)| {
                JsonObject(request_params::FileParams {
                    name: file.name,
                    mime_type: file.mime_type.filter(|kind| !kind.is_empty()),
                    bytes: file.file_with_bytes,
                    uri: file.file_with_uri,
                })
            }),
            metadata: sent.metadata,
        }
    }
}

/// A new push notification configuration: inside the request that the protocol describes, as the
/// official Python client sends it, or bare, as the JavaScript client does.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestPushParams {
    #[serde(alias = "config_id")]
    config_id: Option<String>,
    config: Option<JsonObject<NamedPushConfig>>,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<JsonObject<PushConfigParams>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedPushConfig {
    #[serde(alias = "push_notification_config")]
    push_notification_config: JsonObject<PushConfigParams>,
}

impl RestPushParams {
    /// The path names its task.
    pub(crate) fn into_set_push_call(self, task_id: &str) -> Result<AgentCall, A2aError> {
        let (place, config) = match (self.config, self.push_notification_config) {
            (Some(JsonObject(config)), _) => {
                ("/params/config/pushNotificationConfig", config.push_notification_config)
            }
            (None, Some(config)) => ("/params/pushNotificationConfig", config),
            (None, None) => {
                return Err(A2aError::invalid_param_error(
                    "/params/config",
                    "a configuration is missing",
                    "send {\"config\": {\"pushNotificationConfig\": {\"url\": …}}}",
                ));
            }
        };
        let mut push = config.0.into_push_config(place)?;
        if let Some(id) = self.config_id.filter(|id| !id.is_empty()) {
            push.id = Some(id);
        }
        Ok(AgentCall::SetPush { task: task_id.to_owned(), push: Box::new(push) })
    }
}

#[cfg(test)]
mod tests;
