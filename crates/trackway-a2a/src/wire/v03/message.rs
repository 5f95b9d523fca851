//! Messages and parts as they are written.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeStruct},
};
use serde_json::Value;
use trackway_domain::{self as domain, Content, File, FileSource, Object, Role};

use crate::{
    ops::{Place, Said},
    wire::artifact::{Form, Parts, is_empty},
};

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
    parts: Parts<'a, V03>,
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
            parts: Parts::new(&message.parts),
            metadata: &message.metadata,
            reference_task_ids: &message.references,
            extensions: &message.extensions,
        }
    }
}

/// Parts of 0.3: `kind` says what they are.
#[derive(Debug)]
pub(crate) enum V03 {}

impl Form for V03 {
    fn part<S: Serializer>(part: &domain::Part, serializer: S) -> Result<S::Ok, S::Error> {
        let metadata = &part.metadata;
        let mut wrapped = false;
        let mut fields = serializer.serialize_struct("Part", 3)?;
        match &part.content {
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
