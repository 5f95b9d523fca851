//! Requests as they are read. Fields that are not listed are ignored, as the specification asks.

use serde::Deserialize;
use trackway_a2a_wire::PartV1;

use super::{int::Int, push::PushConfig};
use crate::wire::object::Object;

/// `SendMessage` and `SendStreamingMessage`.
#[derive(Debug, Deserialize)]
pub(crate) struct SendParams {
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    pub(crate) message: Object<Message>,
    #[serde(default)]
    pub(crate) configuration: Option<Object<Configuration>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Configuration {
    #[serde(default, alias = "accepted_output_modes")]
    pub(crate) accepted_output_modes: Option<Vec<String>>,
    #[serde(default, alias = "task_push_notification_config")]
    pub(crate) task_push_notification_config: Option<Object<PushConfig>>,
    #[serde(default, alias = "history_length")]
    pub(crate) history_length: Option<Int>,
    /// Absent means false: the answer comes when the task rests.
    #[serde(default, alias = "return_immediately")]
    pub(crate) return_immediately: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    #[serde(alias = "message_id")]
    pub(crate) message_id: String,
    pub(crate) role: String,
    pub(crate) parts: Vec<Object<PartV1>>,
    #[serde(default, alias = "context_id")]
    pub(crate) context_id: Option<String>,
    #[serde(default, alias = "task_id")]
    pub(crate) task_id: Option<String>,
    #[serde(default)]
    pub(crate) metadata: Option<trackway_domain::Object>,
    #[serde(default)]
    pub(crate) extensions: Option<Vec<String>>,
    #[serde(default, alias = "reference_task_ids")]
    pub(crate) reference_task_ids: Option<Vec<String>>,
}

/// `GetTask`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetParams {
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    pub(crate) id: String,
    #[serde(default, alias = "history_length")]
    pub(crate) history_length: Option<Int>,
}

/// `CancelTask` and `SubscribeToTask`.
#[derive(Debug, Deserialize)]
pub(crate) struct TaskParams {
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    pub(crate) id: String,
}

/// `ListTasks`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListParams {
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    #[serde(default, alias = "context_id")]
    pub(crate) context_id: Option<String>,
    #[serde(default)]
    pub(crate) status: Option<String>,
    #[serde(default, alias = "page_size")]
    pub(crate) page_size: Option<Int>,
    #[serde(default, alias = "page_token")]
    pub(crate) page_token: Option<String>,
    #[serde(default, alias = "history_length")]
    pub(crate) history_length: Option<Int>,
    #[serde(default, alias = "status_timestamp_after")]
    pub(crate) status_timestamp_after: Option<String>,
    #[serde(default, alias = "include_artifacts")]
    pub(crate) include_artifacts: Option<bool>,
}

/// `GetTaskPushNotificationConfig` and `DeleteTaskPushNotificationConfig`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushIdParams {
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    #[serde(alias = "task_id")]
    pub(crate) task_id: String,
    pub(crate) id: String,
}

/// `ListTaskPushNotificationConfigs`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListPushesParams {
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    #[serde(alias = "task_id")]
    pub(crate) task_id: String,
    #[serde(default, alias = "page_size")]
    pub(crate) page_size: Option<Int>,
    #[serde(default, alias = "page_token")]
    pub(crate) page_token: Option<String>,
}

/// `GetExtendedAgentCard`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct TenantParams {
    #[serde(default)]
    pub(crate) tenant: Option<String>,
}
