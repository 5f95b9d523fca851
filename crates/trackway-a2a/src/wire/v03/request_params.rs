//! Parameters of requests. Unknown fields are ignored, as the specification requires.
//!
//! Rules that JSON types alone cannot express (for example, which fields a kind of part needs) are
//! checked during the conversion, so that the error can name the location.

use serde::Deserialize;
use serde_json::Value;

use super::push_params::PushConfigParams;
use crate::wire::json_object::JsonObject;

/// `message/send` and `message/stream`.
#[derive(Debug, Deserialize)]
pub(crate) struct SendParams {
    pub(crate) message: JsonObject<MessageParams>,
    pub(crate) configuration: Option<JsonObject<SendConfiguration>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendConfiguration {
    pub(crate) accepted_output_modes: Option<Vec<String>>,
    /// Absent means false.
    pub(crate) blocking: Option<bool>,
    pub(crate) history_length: Option<i64>,
    pub(crate) push_notification_config: Option<JsonObject<PushConfigParams>>,
}

/// `tasks/get`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskQueryParams {
    pub(crate) id: String,
    pub(crate) history_length: Option<i64>,
}

/// `tasks/cancel` and `tasks/resubscribe`.
#[derive(Debug, Deserialize)]
pub(crate) struct TaskIdParams {
    pub(crate) id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageParams {
    pub(crate) kind: Option<String>,
    pub(crate) message_id: String,
    pub(crate) role: String,
    pub(crate) parts: Vec<JsonObject<PartParams>>,
    pub(crate) context_id: Option<String>,
    pub(crate) task_id: Option<String>,
    pub(crate) metadata: Option<trackway_domain::Object>,
    pub(crate) reference_task_ids: Option<Vec<String>>,
    pub(crate) extensions: Option<Vec<String>>,
}

/// All three kinds in one type. Parsing the kind first would cost a buffered copy of every part.
#[derive(Debug, Deserialize)]
pub(crate) struct PartParams {
    pub(crate) kind: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) data: Option<Value>,
    pub(crate) file: Option<JsonObject<FileParams>>,
    pub(crate) metadata: Option<trackway_domain::Object>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileParams {
    pub(crate) name: Option<String>,
    pub(crate) mime_type: Option<String>,
    pub(crate) bytes: Option<String>,
    pub(crate) uri: Option<String>,
}
