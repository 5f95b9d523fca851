//! Messages, parts and artifacts as they are written.

use serde_json::Value;
use trackway_a2a_wire::{DATA_PART_COMPAT, with_references};
use trackway_domain::{self as domain, Content, Object, Role, RunId};

use crate::{
    grpc::{
        pb::v03::{self as pb, file_part::File as Source, part::Part as Written},
        value,
    },
    ops::{Place, Said},
};

pub(super) fn message(message: &domain::Message, place: &Place) -> pb::Message {
    at(message, place.session.as_str(), Some(place.run))
}

/// An answer that belongs to no task.
pub(super) fn said(said: &Said) -> pb::Message {
    at(&said.message, said.session.as_str(), None)
}

fn at(message: &domain::Message, context_id: &str, task: Option<RunId>) -> pb::Message {
    let role = match message.role {
        Role::User => pb::Role::User,
        Role::Agent => pb::Role::Agent,
    };
    pb::Message {
        message_id: message.id.to_string(),
        context_id: context_id.to_owned(),
        task_id: task.map(|run| run.to_string()).unwrap_or_default(),
        role: role.into(),
        content: message.parts.iter().map(part).collect(),
        metadata: value::metadata(&with_references(message)),
        extensions: message.extensions.clone(),
    }
}

pub(super) fn artifact(artifact: &domain::Artifact) -> pb::Artifact {
    pb::Artifact {
        artifact_id: artifact.id.to_string(),
        name: artifact.name.clone().unwrap_or_default(),
        description: artifact.description.clone().unwrap_or_default(),
        parts: artifact.parts.iter().map(part).collect(),
        metadata: value::metadata(&artifact.metadata),
    }
}

fn part(part: &domain::Part) -> pb::Part {
    let mut metadata = part.metadata.clone();
    let written = match &part.content {
        Content::Text(text) => Written::Text(text.clone()),
        Content::Data(Value::Object(fields)) => data(fields),
        // Data of this generation is an object; anything else is wrapped, with a mark.
        Content::Data(other) => {
            metadata.insert(DATA_PART_COMPAT.to_owned(), true.into());
            data(&Object::from_iter([("value".to_owned(), other.clone())]))
        }
        Content::File(file) => {
            let source = match &file.source {
                domain::FileSource::Base64(text) => Source::FileWithBytes(value::bytes(text)),
                domain::FileSource::Uri(uri) => Source::FileWithUri(uri.clone()),
            };
            Written::File(pb::FilePart {
                file: Some(source),
                mime_type: file.mime_type.clone().unwrap_or_default(),
                name: file.name.clone().unwrap_or_default(),
            })
        }
    };
    pb::Part { part: Some(written), metadata: value::metadata(&metadata) }
}

fn data(fields: &Object) -> Written {
    Written::Data(pb::DataPart { data: Some(value::structure(fields)) })
}
