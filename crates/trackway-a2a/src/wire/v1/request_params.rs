//! Parameters of requests. Unknown fields are ignored, as the specification requires.

use serde::Deserialize;
use trackway_a2a_wire::ReceivedPartV1;

use super::{json_integer::JsonInteger, push_params::PushConfigParams};
use crate::wire::json_object::JsonObject;

/// `SendMessage` and `SendStreamingMessage`.
#[derive(Debug, Deserialize)]
pub(crate) struct SendParams {
    pub(crate) tenant: Option<String>,
    pub(crate) message: JsonObject<MessageParams>,
    pub(crate) configuration: Option<JsonObject<SendConfiguration>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendConfiguration {
    #[serde(alias = "accepted_output_modes")]
    pub(crate) accepted_output_modes: Option<Vec<String>>,
    #[serde(alias = "task_push_notification_config")]
    pub(crate) task_push_notification_config: Option<JsonObject<PushConfigParams>>,
    #[serde(alias = "history_length")]
    pub(crate) history_length: Option<JsonInteger>,
    /// Absent means false: the answer is sent when the task rests.
    #[serde(alias = "return_immediately")]
    pub(crate) return_immediately: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageParams {
    #[serde(alias = "message_id")]
    pub(crate) message_id: String,
    pub(crate) role: String,
    pub(crate) parts: Vec<JsonObject<ReceivedPartV1>>,
    #[serde(alias = "context_id")]
    pub(crate) context_id: Option<String>,
    #[serde(alias = "task_id")]
    pub(crate) task_id: Option<String>,
    pub(crate) metadata: Option<trackway_domain::Object>,
    pub(crate) extensions: Option<Vec<String>>,
    #[serde(alias = "reference_task_ids")]
    pub(crate) reference_task_ids: Option<Vec<String>>,
}

/// `GetTask`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetTaskParams {
    pub(crate) tenant: Option<String>,
    pub(crate) id: String,
    #[serde(alias = "history_length")]
    pub(crate) history_length: Option<JsonInteger>,
}

/// `CancelTask` and `SubscribeToTask`.
#[derive(Debug, Deserialize)]
pub(crate) struct TaskIdParams {
    pub(crate) tenant: Option<String>,
    pub(crate) id: String,
}

/// `ListTasks`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListTasksParams {
    pub(crate) tenant: Option<String>,
    #[serde(alias = "context_id")]
    pub(crate) context_id: Option<String>,
    pub(crate) status: Option<String>,
    #[serde(alias = "page_size")]
    pub(crate) page_size: Option<JsonInteger>,
    #[serde(alias = "page_token")]
    pub(crate) page_token: Option<String>,
    #[serde(alias = "history_length")]
    pub(crate) history_length: Option<JsonInteger>,
    #[serde(alias = "status_timestamp_after")]
    pub(crate) status_timestamp_after: Option<String>,
    #[serde(alias = "include_artifacts")]
    pub(crate) include_artifacts: Option<bool>,
}

/// `GetTaskPushNotificationConfig` and `DeleteTaskPushNotificationConfig`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushIdParams {
    pub(crate) tenant: Option<String>,
    #[serde(alias = "task_id")]
    pub(crate) task_id: String,
    pub(crate) id: String,
}

/// `ListTaskPushNotificationConfigs`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListPushesParams {
    pub(crate) tenant: Option<String>,
    #[serde(alias = "task_id")]
    pub(crate) task_id: String,
    #[serde(alias = "page_size")]
    pub(crate) page_size: Option<JsonInteger>,
    #[serde(alias = "page_token")]
    pub(crate) page_token: Option<String>,
}

/// `GetExtendedAgentCard`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct TenantParams {
    pub(crate) tenant: Option<String>,
}
