//! Messages, parts and artifacts as they are written.

use trackway_a2a_wire::beside;
use trackway_domain::{self as domain, Content, Role, RunId};

use crate::{
    grpc::{
        pb::v1::{self as pb, part::Content as Written},
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
        parts: message.parts.iter().map(part).collect(),
        metadata: value::metadata(&message.metadata),
        extensions: message.extensions.clone(),
        reference_task_ids: message.references.clone(),
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
    let (content, name, mime_type) = match &part.content {
        Content::Text(text) => {
            let (name, mime_type) = beside(&part.metadata);
            (Written::Text(text.clone()), name, mime_type)
        }
        Content::Data(data) => {
            let (name, mime_type) = beside(&part.metadata);
            (Written::Data(value::value(data)), name, mime_type)
        }
        Content::File(file) => {
            let source = match &file.source {
                domain::FileSource::Base64(text) => Written::Raw(value::bytes(text)),
                domain::FileSource::Uri(uri) => Written::Url(uri.clone()),
            };
            (source, file.name.as_deref(), file.mime_type.as_deref())
        }
    };
    pb::Part {
        content: Some(content),
        metadata: value::metadata(&part.metadata),
        filename: name.unwrap_or_default().to_owned(),
        media_type: mime_type.unwrap_or_default().to_owned(),
    }
}
