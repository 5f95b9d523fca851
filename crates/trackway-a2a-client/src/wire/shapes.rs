//! What both generations write alike, with the part and the names left to the dialect.

use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use trackway_domain::{self as domain, ArtifactId, MessageId, Object, Timestamp};

use super::{dialect::Dialect, v1::V1};
use crate::{self as client, ClientError, Envelope, Update};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct Message<D: Dialect> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    message_id: String,
    role: String,
    #[serde(default)]
    parts: Vec<D::Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Object>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference_task_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extensions: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct Artifact<D: Dialect> {
    artifact_id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parts: Vec<D::Part>,
    #[serde(default)]
    metadata: Option<Object>,
}

#[derive(Debug, Deserialize)]
#[serde(bound = "")]
struct Status<D: Dialect> {
    state: String,
    #[serde(default)]
    message: Option<Message<D>>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(skip)]
    dialect: PhantomData<D>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct Task<D: Dialect> {
    id: String,
    #[serde(default)]
    context_id: Option<String>,
    status: Status<D>,
    #[serde(default)]
    artifacts: Option<Vec<Artifact<D>>>,
    #[serde(default)]
    history: Option<Vec<Message<D>>>,
    #[serde(default)]
    metadata: Option<Object>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct StatusUpdate<D: Dialect> {
    task_id: String,
    #[serde(default)]
    context_id: Option<String>,
    status: Status<D>,
    #[serde(default)]
    metadata: Option<Object>,
    #[serde(default, rename = "final")]
    last: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct ArtifactUpdate<D: Dialect> {
    task_id: String,
    #[serde(default)]
    context_id: Option<String>,
    artifact: Artifact<D>,
    #[serde(default)]
    append: Option<bool>,
    #[serde(default)]
    last_chunk: Option<bool>,
    #[serde(default)]
    metadata: Option<Object>,
}

/// An item of 1.0: the member that is there says what it is. A send is answered with one too.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StreamResponse {
    #[serde(default)]
    task: Option<Task<V1>>,
    #[serde(default)]
    message: Option<Message<V1>>,
    #[serde(default)]
    status_update: Option<StatusUpdate<V1>>,
    #[serde(default)]
    artifact_update: Option<ArtifactUpdate<V1>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct Page<D: Dialect> {
    #[serde(default)]
    pub(super) tasks: Option<Vec<Task<D>>>,
    #[serde(default)]
    pub(super) next_page_token: Option<String>,
    #[serde(default)]
    pub(super) total_size: Option<u64>,
}

impl<D: Dialect> Message<D> {
    pub(super) fn of(envelope: &Envelope) -> Self {
        let message = &envelope.message;
        let listed = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
        Self {
            kind: D::TAGGED.then(|| "message".to_owned()),
            message_id: message.id.to_string(),
            role: D::role_out(message.role).to_owned(),
            parts: message.parts.iter().map(D::part_out).collect(),
            context_id: envelope.context.clone(),
            task_id: envelope.task.clone(),
            metadata: (!message.metadata.is_empty()).then(|| message.metadata.clone()),
            reference_task_ids: listed(&message.references),
            extensions: listed(&message.extensions),
        }
    }

    pub(super) fn taken(self) -> Result<Envelope, ClientError> {
        let message = domain::Message {
            id: MessageId::new(&self.message_id).map_err(ClientError::malformed)?,
            role: D::role_in(&self.role)?,
            parts: parts::<D>(self.parts)?,
            metadata: self.metadata.unwrap_or_default(),
            references: self.reference_task_ids.unwrap_or_default(),
            extensions: self.extensions.unwrap_or_default(),
        };
        Ok(Envelope { message, task: filled(self.task_id), context: filled(self.context_id) })
    }
}

impl<D: Dialect> Artifact<D> {
    fn taken(self) -> Result<domain::Artifact, ClientError> {
        Ok(domain::Artifact {
            id: ArtifactId::new(&self.artifact_id).map_err(ClientError::malformed)?,
            name: filled(self.name),
            description: filled(self.description),
            parts: parts::<D>(self.parts)?,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl<D: Dialect> Status<D> {
    fn taken(self) -> Result<client::TaskStatus, ClientError> {
        let message = self.message.map(Message::taken).transpose()?;
        Ok(client::TaskStatus {
            state: D::state_in(&self.state),
            message: message.map(|envelope| envelope.message),
            timestamp: self.timestamp.as_deref().and_then(moment),
        })
    }
}

impl<D: Dialect> Task<D> {
    pub(super) fn taken(self) -> Result<client::Task, ClientError> {
        let artifacts = self.artifacts.unwrap_or_default().into_iter().map(Artifact::taken);
        let history = self.history.unwrap_or_default().into_iter();
        let history = history.map(|message| message.taken().map(|envelope| envelope.message));
        Ok(client::Task {
            id: named(self.id)?,
            context: filled(self.context_id),
            status: self.status.taken()?,
            artifacts: artifacts.collect::<Result<_, _>>()?,
            history: history.collect::<Result<_, _>>()?,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl<D: Dialect> StatusUpdate<D> {
    pub(super) fn taken(self) -> Result<client::StatusUpdate, ClientError> {
        let status = self.status.taken()?;
        Ok(client::StatusUpdate {
            task: named(self.task_id)?,
            context: filled(self.context_id),
            last: self.last || (!D::TAGGED && client::is_over(status.state)),
            status,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl<D: Dialect> ArtifactUpdate<D> {
    pub(super) fn taken(self) -> Result<client::ArtifactUpdate, ClientError> {
        let chunk = domain::ArtifactChunk {
            artifact: self.artifact.taken()?,
            append: self.append.unwrap_or_default(),
            last: self.last_chunk.unwrap_or_default(),
            joined: false,
        };
        Ok(client::ArtifactUpdate {
            task: named(self.task_id)?,
            context: filled(self.context_id),
            chunk,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl StreamResponse {
    pub(super) fn taken(self) -> Result<Update, ClientError> {
        match (self.task, self.message, self.status_update, self.artifact_update) {
            (Some(task), None, None, None) => Ok(Update::Task(task.taken()?)),
            (None, Some(message), None, None) => Ok(Update::Message(message.taken()?)),
            (None, None, Some(status), None) => Ok(Update::Status(status.taken()?)),
            (None, None, None, Some(artifact)) => Ok(Update::Artifact(artifact.taken()?)),
            _ => Err(ClientError::malformed(
                "an item holds exactly one of task, message, statusUpdate and artifactUpdate",
            )),
        }
    }
}

/// Whether a field is there at all; a null is there.
pub(super) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn parts<D: Dialect>(parts: Vec<D::Part>) -> Result<Vec<domain::Part>, ClientError> {
    parts.into_iter().map(D::part_in).collect()
}

/// Text that an agent left empty says nothing.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn named(id: String) -> Result<String, ClientError> {
    if id.is_empty() {
        return Err(ClientError::malformed("a task has no id"));
    }
    Ok(id)
}

/// Some agents write times without a zone; such a time is worth less than the task that has it.
fn moment(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(moment.as_millisecond()))
}
