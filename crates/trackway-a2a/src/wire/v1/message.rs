//! Messages and parts as they are written.

use serde::{Serialize, Serializer, ser::SerializeMap};
use trackway_domain::{self as domain, Content, FileSource, Object, Role, RunId};

use crate::{
    ops::{Place, Said},
    wire::artifact::{Form, Parts, is_empty},
};

/// A whole message: whose it is and where it stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    message_id: &'a str,
    context_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<RunId>,
    role: &'static str,
    parts: Parts<'a, V1>,
    #[serde(skip_serializing_if = "is_empty")]
    metadata: &'a Object,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reference_task_ids: &'a [String],
}

impl<'a> Message<'a> {
    pub(super) fn new(message: &'a domain::Message, place: &'a Place) -> Self {
        Self::at(message, place.session.as_str(), Some(place.run))
    }

    /// An answer that belongs to no task.
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
            parts: Parts::new(&message.parts),
            metadata: &message.metadata,
            extensions: &message.extensions,
            reference_task_ids: &message.references,
        }
    }
}

/// Parts of 1.0: the content's own name says what it is.
#[derive(Debug)]
pub(crate) enum V1 {}

impl Form for V1 {
    fn part<S: Serializer>(part: &domain::Part, serializer: S) -> Result<S::Ok, S::Error> {
        let metadata = &part.metadata;
        let mut fields = serializer.serialize_map(None)?;
        let (filename, media_type) = match &part.content {
            Content::Text(text) => {
                fields.serialize_entry("text", text)?;
                beside(metadata)
            }
            Content::Data(data) => {
                fields.serialize_entry("data", data)?;
                beside(metadata)
            }
            Content::File(file) => {
                match &file.source {
                    FileSource::Base64(bytes) => fields.serialize_entry("raw", bytes)?,
                    FileSource::Uri(uri) => fields.serialize_entry("url", uri)?,
                }
                (file.name.as_deref(), file.mime_type.as_deref())
            }
        };
        if !metadata.is_empty() {
            fields.serialize_entry("metadata", metadata)?;
        }
        if let Some(filename) = filename {
            fields.serialize_entry("filename", filename)?;
        }
        if let Some(media_type) = media_type {
            fields.serialize_entry("mediaType", media_type)?;
        }
        fields.end()
    }
}

/// Name and type of a text or data part, which the domain keeps among the metadata.
fn beside(metadata: &Object) -> (Option<&str>, Option<&str>) {
    let text = |name: &str| metadata.get(name).and_then(serde_json::Value::as_str);
    (text("filename"), text("mimeType"))
}
