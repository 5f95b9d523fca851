//! Messages, parts and artifacts as JSON, in the shape that A2A gives them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::{self as domain, FileSource, MessagePartContent, MessageRole, Object};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub message_id: String,
    pub role: MessageRole,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub metadata: Object,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    pub artifact_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub metadata: Object,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    #[serde(flatten)]
    pub content: PartContent,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub metadata: Object,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum PartContent {
    Text { text: String },
    Data { data: Value },
    File { file: File },
}

/// A file: its bytes in base64, or its address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

impl From<&domain::Message> for Message {
    fn from(message: &domain::Message) -> Self {
        Self {
            message_id: message.id.to_string(),
            role: message.role,
            parts: parts_to_wire(&message.parts),
            metadata: message.metadata.clone(),
            reference_task_ids: message.references.clone(),
        }
    }
}

impl From<&domain::Artifact> for Artifact {
    fn from(artifact: &domain::Artifact) -> Self {
        Self {
            artifact_id: artifact.id.to_string(),
            name: artifact.name.clone(),
            description: artifact.description.clone(),
            parts: parts_to_wire(&artifact.parts),
            metadata: artifact.metadata.clone(),
        }
    }
}

impl From<&domain::Part> for Part {
    fn from(part: &domain::Part) -> Self {
        let content = match &part.content {
            MessagePartContent::Text(text) => PartContent::Text { text: text.clone() },
            MessagePartContent::Data(data) => PartContent::Data { data: data.clone() },
            MessagePartContent::File(file) => PartContent::File { file: file.into() },
        };
        Self { content, metadata: part.metadata.clone() }
    }
}

impl From<&domain::File> for File {
    fn from(file: &domain::File) -> Self {
        let (bytes, uri) = match &file.source {
            FileSource::Base64(bytes) => (Some(bytes.clone()), None),
            FileSource::Uri(uri) => (None, Some(uri.clone())),
        };
        Self { name: file.name.clone(), mime_type: file.mime_type.clone(), bytes, uri }
    }
}

pub(super) fn parts_to_wire(parts: &[domain::Part]) -> Vec<Part> {
    parts.iter().map(Part::from).collect()
}
