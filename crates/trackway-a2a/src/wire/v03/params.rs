//! Parameters as they are read. Fields that are not listed are ignored, as the specification asks.
//!
//! What JSON types alone cannot say (which fields a kind of part needs, say) is checked where the
//! values are converted, so that the error can name the place.

use serde::Deserialize;
use serde_json::Value;

use super::push::PushConfig;
use crate::wire::object::Object;

/// `message/send` and `message/stream`.
#[derive(Debug, Deserialize)]
pub(crate) struct SendParams {
    pub(crate) message: Object<Message>,
    #[serde(default)]
    pub(crate) configuration: Option<Object<Configuration>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Configuration {
    #[serde(default)]
    pub(crate) accepted_output_modes: Option<Vec<String>>,
    /// Absent means false.
    #[serde(default)]
    pub(crate) blocking: Option<bool>,
    #[serde(default)]
    pub(crate) history_length: Option<i64>,
    #[serde(default)]
    pub(crate) push_notification_config: Option<Object<PushConfig>>,
}

/// `tasks/get`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskQueryParams {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) history_length: Option<i64>,
}

/// `tasks/cancel` and `tasks/resubscribe`.
#[derive(Debug, Deserialize)]
pub(crate) struct TaskIdParams {
    pub(crate) id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    #[serde(default)]
    pub(crate) kind: Option<String>,
    pub(crate) message_id: String,
    pub(crate) role: String,
    pub(crate) parts: Vec<Object<Part>>,
    #[serde(default)]
    pub(crate) context_id: Option<String>,
    #[serde(default)]
    pub(crate) task_id: Option<String>,
    #[serde(default)]
    pub(crate) metadata: Option<trackway_domain::Object>,
    #[serde(default)]
    pub(crate) reference_task_ids: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) extensions: Option<Vec<String>>,
}

/// All three kinds in one. Reading the kind first would cost a buffered copy of every part.
#[derive(Debug, Deserialize)]
pub(crate) struct Part {
    #[serde(default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) data: Option<Value>,
    #[serde(default)]
    pub(crate) file: Option<Object<File>>,
    #[serde(default)]
    pub(crate) metadata: Option<trackway_domain::Object>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct File {
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) mime_type: Option<String>,
    #[serde(default)]
    pub(crate) bytes: Option<String>,
    #[serde(default)]
    pub(crate) uri: Option<String>,
}
