//! Messages, parts and artifacts as they are written.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};
use trackway_domain::{self as domain, Content, FileSource, Object, Role, RunId};

use crate::{
    ops::{Place, Said},
    wire::v03::message::DATA_PART_COMPAT,
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    message_id: &'a str,
    context_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<RunId>,
    role: &'static str,
    content: Parts<'a>,
    #[serde(skip_serializing_if = "is_empty")]
    metadata: &'a Object,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [String],
}

impl<'a> Message<'a> {
    pub(super) fn new(message: &'a domain::Message, place: &'a Place) -> Self {
        Self::at(message, place.session.as_str(), Some(place.run))
    }

    pub(super) fn said(said: &'a Said) -> Self {
        Self::at(&said.message, said.session.as_str(), None)
    }

    fn at(message: &'a domain::Message, context_id: &'a str, task_id: Option<RunId>) -> Self {
        Self {
            message_id: message.id.as_str(),
            context_id,
            task_id,
            role: match message.role {
                Role::User => "ROLE_USER",
                Role::Agent => "ROLE_AGENT",
            },
            content: Parts(&message.parts),
            metadata: &message.metadata,
            extensions: &message.extensions,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Artifact<'a> {
    artifact_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parts: Parts<'a>,
    #[serde(skip_serializing_if = "is_empty")]
    metadata: &'a Object,
}

impl<'a> Artifact<'a> {
    pub(super) fn new(artifact: &'a domain::Artifact) -> Self {
        Self {
            artifact_id: artifact.id.as_str(),
            name: artifact.name.as_deref(),
            description: artifact.description.as_deref(),
            parts: Parts(&artifact.parts),
            metadata: &artifact.metadata,
        }
    }
}

#[derive(Debug)]
struct Parts<'a>(&'a [domain::Part]);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Part))
    }
}

struct Part<'a>(&'a domain::Part);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut metadata = self.0.metadata.clone();
        let mut fields = serializer.serialize_map(None)?;
        match &self.0.content {
            Content::Text(text) => fields.serialize_entry("text", text)?,
            Content::Data(data @ Value::Object(_)) => {
                fields.serialize_entry("data", &json!({ "data": data }))?;
            }
            // Data is an object here; any other value is wrapped, as the SDKs do.
            Content::Data(data) => {
                fields.serialize_entry("data", &json!({ "data": { "value": data } }))?;
                metadata.insert(DATA_PART_COMPAT.to_owned(), true.into());
            }
            Content::File(file) => {
                let mut written = match &file.source {
                    FileSource::Base64(bytes) => json!({ "fileWithBytes": bytes }),
                    FileSource::Uri(uri) => json!({ "fileWithUri": uri }),
                };
                if let Some(kind) = &file.mime_type {
                    written["mimeType"] = json!(kind);
                }
                if let Some(name) = &file.name {
                    written["name"] = json!(name);
                }
                fields.serialize_entry("file", &written)?;
            }
        }
        if !metadata.is_empty() {
            fields.serialize_entry("metadata", &metadata)?;
        }
        fields.end()
    }
}

fn is_empty(metadata: &&Object) -> bool {
    metadata.is_empty()
}
