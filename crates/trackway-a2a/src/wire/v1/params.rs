//! Parameters of requests. Unknown fields are ignored, as the specification requires.

use serde::Deserialize;
use trackway_a2a_wire::PartV1;

use super::{int::Int, push::PushConfig};
use crate::wire::object::Object;

/// `SendMessage` and `SendStreamingMessage`.
#[derive(Debug, Deserialize)]
pub(crate) struct SendParams {
    pub(crate) tenant: Option<String>,
    pub(crate) message: Object<Message>,
    pub(crate) configuration: Option<Object<Configuration>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Configuration {
    #[serde(alias = "accepted_output_modes")]
    pub(crate) accepted_output_modes: Option<Vec<String>>,
    #[serde(alias = "task_push_notification_config")]
    pub(crate) task_push_notification_config: Option<Object<PushConfig>>,
    #[serde(alias = "history_length")]
    pub(crate) history_length: Option<Int>,
    /// Absent means false: the answer is sent when the task rests.
    #[serde(alias = "return_immediately")]
    pub(crate) return_immediately: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    #[serde(alias = "message_id")]
    pub(crate) message_id: String,
    pub(crate) role: String,
    pub(crate) parts: Vec<Object<PartV1>>,
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
pub(crate) struct GetParams {
    pub(crate) tenant: Option<String>,
    pub(crate) id: String,
    #[serde(alias = "history_length")]
    pub(crate) history_length: Option<Int>,
}

/// `CancelTask` and `SubscribeToTask`.
#[derive(Debug, Deserialize)]
pub(crate) struct TaskParams {
    pub(crate) tenant: Option<String>,
    pub(crate) id: String,
}

/// `ListTasks`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListParams {
    pub(crate) tenant: Option<String>,
    #[serde(alias = "context_id")]
    pub(crate) context_id: Option<String>,
    pub(crate) status: Option<String>,
    #[serde(alias = "page_size")]
    pub(crate) page_size: Option<Int>,
    #[serde(alias = "page_token")]
    pub(crate) page_token: Option<String>,
    #[serde(alias = "history_length")]
    pub(crate) history_length: Option<Int>,
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
    pub(crate) page_size: Option<Int>,
    #[serde(alias = "page_token")]
    pub(crate) page_token: Option<String>,
}

/// `GetExtendedAgentCard`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct TenantParams {
    pub(crate) tenant: Option<String>,
}
