//! Messages and parts as they are written.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};
use trackway_domain::{self as domain, Content, FileSource, Object, Role, RunId};

use crate::{
    ops::{Place, Said},
    wire::{
        artifact::{Form, Parts},
        v03::{message::DATA_PART_COMPAT, with_references},
    },
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message<'a> {
    message_id: &'a str,
    context_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<RunId>,
    role: &'static str,
    content: Parts<'a, Rest>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Cow<'a, Object>,
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
            content: Parts::new(&message.parts),
            metadata: with_references(message),
            extensions: &message.extensions,
        }
    }
}

/// Parts of 0.3 as its protobuf messages have them.
#[derive(Debug)]
pub(crate) enum Rest {}

impl Form for Rest {
    fn part<S: Serializer>(part: &domain::Part, serializer: S) -> Result<S::Ok, S::Error> {
        let mut metadata = part.metadata.clone();
        let mut fields = serializer.serialize_map(None)?;
        match &part.content {
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
