//! Writes messages and artifacts.

use serde::{Serialize, Serializer, ser::SerializeMap};
use trackway_domain as domain;

use crate::{JsonDialect, metadata_with_referenced_tasks, wire_part::WirePart};

/// A message, its task and its context. `T` is the type of its task id.
#[derive(Debug, Clone, Copy)]
pub struct WireMessage<'a, T = &'a str> {
    pub message: &'a domain::Message,
    pub context: Option<&'a str>,
    pub task: Option<T>,
    pub dialect: JsonDialect,
}

impl<T: Serialize> Serialize for WireMessage<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { message, dialect, .. } = *self;
        let mut fields = serializer.serialize_map(None)?;
        if dialect.has_kind_field() {
            fields.serialize_entry("kind", "message")?;
        }
        fields.serialize_entry("messageId", message.id.as_str())?;
        if let Some(context) = self.context {
            fields.serialize_entry("contextId", context)?;
        }
        if let Some(task) = &self.task {
            fields.serialize_entry("taskId", task)?;
        }
        fields.serialize_entry("role", dialect.role_name(message.role))?;
        let parts = WireParts { parts: &message.parts, dialect };
        if dialect == JsonDialect::V03Protobuf {
            fields.serialize_entry("content", &parts)?;
            let metadata = metadata_with_referenced_tasks(message);
            if !metadata.is_empty() {
                fields.serialize_entry("metadata", &*metadata)?;
            }
        } else {
            fields.serialize_entry("parts", &parts)?;
            if !message.metadata.is_empty() {
                fields.serialize_entry("metadata", &message.metadata)?;
            }
            if !message.references.is_empty() {
                fields.serialize_entry("referenceTaskIds", &message.references)?;
            }
        }
        if !message.extensions.is_empty() {
            fields.serialize_entry("extensions", &message.extensions)?;
        }
        fields.end()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct WireArtifact<'a> {
    pub artifact: &'a domain::Artifact,
    pub dialect: JsonDialect,
}

impl Serialize for WireArtifact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { artifact, dialect } = *self;
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("artifactId", artifact.id.as_str())?;
        if let Some(name) = &artifact.name {
            fields.serialize_entry("name", name)?;
        }
        if let Some(description) = &artifact.description {
            fields.serialize_entry("description", description)?;
        }
        fields.serialize_entry("parts", &WireParts { parts: &artifact.parts, dialect })?;
        if !artifact.metadata.is_empty() {
            fields.serialize_entry("metadata", &artifact.metadata)?;
        }
        fields.end()
    }
}

struct WireParts<'a> {
    parts: &'a [domain::Part],
    dialect: JsonDialect,
}

impl Serialize for WireParts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let dialect = self.dialect;
        serializer.collect_seq(self.parts.iter().map(|part| WirePart { part, dialect }))
    }
}
