//! Messages, parts and artifacts as they are written.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeStruct},
};
use serde_json::Value;
use trackway_domain::{self as domain, Content, File, FileSource, Object, Role};

use crate::ops::{Place, Said};

/// Mark of a data part whose value is no object and is therefore wrapped. The official SDKs use the
/// same, so a value comes back as it was.
pub(crate) const DATA_PART_COMPAT: &str = "data_part_compat";

/// A whole message: whose it is and where it stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    kind: &'static str,
    message_id: &'a str,
    context_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<domain::RunId>,
    role: &'static str,
    parts: Parts<'a>,
    #[serde(skip_serializing_if = "is_empty")]
    metadata: &'a Object,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reference_task_ids: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [String],
}

impl<'a> Message<'a> {
    pub(super) fn new(message: &'a domain::Message, place: &'a Place) -> Self {
        Self::at(message, place.session.as_str(), Some(place.run))
    }

    /// An answer that belongs to no task.
    pub(super) fn said(said: &'a Said) -> Self {
        Self::at(&said.message, said.session.as_str(), None)
    }

    fn at(
        message: &'a domain::Message,
        context_id: &'a str,
        task_id: Option<domain::RunId>,
    ) -> Self {
        Self {
            kind: "message",
            message_id: message.id.as_str(),
            context_id,
            task_id,
            role: match message.role {
                Role::User => "user",
                Role::Agent => "agent",
            },
            parts: Parts(&message.parts),
            metadata: &message.metadata,
            reference_task_ids: &message.references,
            extensions: &message.extensions,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Artifact<'a> {
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
pub(super) struct Parts<'a>(&'a [domain::Part]);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Part))
    }
}

struct Part<'a>(&'a domain::Part);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let metadata = &self.0.metadata;
        let mut wrapped = false;
        let mut fields = serializer.serialize_struct("Part", 3)?;
        match &self.0.content {
            Content::Text(text) => {
                fields.serialize_field("kind", "text")?;
                fields.serialize_field("text", text)?;
            }
            Content::Data(data) => {
                fields.serialize_field("kind", "data")?;
                wrapped = !data.is_object();
                if wrapped {
                    fields.serialize_field("data", &Wrapped { value: data })?;
                } else {
                    fields.serialize_field("data", data)?;
                }
            }
            Content::File(file) => {
                fields.serialize_field("kind", "file")?;
                fields.serialize_field("file", &FileOut::new(file))?;
            }
        }
        if wrapped {
            fields.serialize_field("metadata", &Marked(metadata))?;
        } else if !metadata.is_empty() {
            fields.serialize_field("metadata", metadata)?;
        }
        fields.end()
    }
}

#[derive(Serialize)]
struct Wrapped<'a> {
    value: &'a Value,
}

struct Marked<'a>(&'a Object);

impl Serialize for Marked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_map(Some(self.0.len() + 1))?;
        for (key, value) in self.0.iter().filter(|(key, _)| *key != DATA_PART_COMPAT) {
            entries.serialize_entry(key, value)?;
        }
        entries.serialize_entry(DATA_PART_COMPAT, &true)?;
        entries.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
}

impl<'a> FileOut<'a> {
    fn new(file: &'a File) -> Self {
        let (bytes, uri) = match &file.source {
            FileSource::Base64(bytes) => (Some(bytes.as_str()), None),
            FileSource::Uri(uri) => (None, Some(uri.as_str())),
        };
        Self { name: file.name.as_deref(), mime_type: file.mime_type.as_deref(), bytes, uri }
    }
}

fn is_empty(metadata: &&Object) -> bool {
    metadata.is_empty()
}
