//! The forms that both generations share in answers; the part differs.

use std::fmt::Debug;

use serde::{Deserialize, de::DeserializeOwned};
use trackway_a2a_wire::{JsonDialect, PartContentError, ReceivedPartV1};
use trackway_domain::{self as domain, ArtifactId, MessageId, Object, StateName, Timestamp};

use crate::{self as client, AddressedMessage, ClientError, TaskUpdate};

/// A part of one generation.
pub(super) trait ReceivedPart: Debug + DeserializeOwned {
    const DIALECT: JsonDialect;

    fn into_part(self) -> Result<domain::Part, ClientError>;
}

impl ReceivedPart for ReceivedPartV1 {
    const DIALECT: JsonDialect = JsonDialect::V1;

    fn into_part(self) -> Result<domain::Part, ClientError> {
        self.into_part().map_err(|PartContentError| {
            ClientError::malformed_response_error("a part holds exactly one of text, raw, url and data")
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct ReceivedMessage<P: ReceivedPart> {
    message_id: String,
    role: String,
    #[serde(default)]
    parts: Vec<P>,
    context_id: Option<String>,
    task_id: Option<String>,
    metadata: Option<Object>,
    reference_task_ids: Option<Vec<String>>,
    extensions: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct ReceivedArtifact<P: ReceivedPart> {
    artifact_id: String,
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    parts: Vec<P>,
    metadata: Option<Object>,
}

#[derive(Debug, Deserialize)]
#[serde(bound = "")]
struct ReceivedStatus<P: ReceivedPart> {
    state: String,
    message: Option<ReceivedMessage<P>>,
    timestamp: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct ReceivedTask<P: ReceivedPart> {
    id: String,
    context_id: Option<String>,
    status: ReceivedStatus<P>,
    artifacts: Option<Vec<ReceivedArtifact<P>>>,
    history: Option<Vec<ReceivedMessage<P>>>,
    metadata: Option<Object>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct ReceivedStatusUpdate<P: ReceivedPart> {
    task_id: String,
    context_id: Option<String>,
    status: ReceivedStatus<P>,
    metadata: Option<Object>,
    #[serde(default, rename = "final")]
    last: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct ReceivedArtifactUpdate<P: ReceivedPart> {
    task_id: String,
    context_id: Option<String>,
    artifact: ReceivedArtifact<P>,
    append: Option<bool>,
    last_chunk: Option<bool>,
    metadata: Option<Object>,
}

/// An item of 1.0: the member that is present identifies it. A send is answered with one too.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReceivedStreamItem {
    task: Option<ReceivedTask<ReceivedPartV1>>,
    message: Option<ReceivedMessage<ReceivedPartV1>>,
    status_update: Option<ReceivedStatusUpdate<ReceivedPartV1>>,
    artifact_update: Option<ReceivedArtifactUpdate<ReceivedPartV1>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct ReceivedTaskPage<P: ReceivedPart> {
    pub(super) tasks: Option<Vec<ReceivedTask<P>>>,
    pub(super) next_page_token: Option<String>,
    pub(super) total_size: Option<u64>,
}

impl<P: ReceivedPart> ReceivedMessage<P> {
    pub(super) fn into_addressed_message(self) -> Result<AddressedMessage, ClientError> {
        let role = P::DIALECT.parse_role(&self.role);
        let message = domain::Message {
            id: MessageId::new(&self.message_id).map_err(ClientError::malformed_response_error)?,
            role: role.ok_or_else(|| {
                ClientError::malformed_response_error(format_args!("{:?} is not a role", self.role))
            })?,
            parts: parse_parts::<P>(self.parts)?,
            metadata: self.metadata.unwrap_or_default(),
            references: self.reference_task_ids.unwrap_or_default(),
            extensions: self.extensions.unwrap_or_default(),
        };
        Ok(AddressedMessage {
            message,
            task: non_empty_text(self.task_id),
            context: non_empty_text(self.context_id),
        })
    }
}

impl<P: ReceivedPart> ReceivedArtifact<P> {
    fn into_artifact(self) -> Result<domain::Artifact, ClientError> {
        Ok(domain::Artifact {
            id: ArtifactId::new(&self.artifact_id).map_err(ClientError::malformed_response_error)?,
            name: non_empty_text(self.name),
            description: non_empty_text(self.description),
            parts: parse_parts::<P>(self.parts)?,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl<P: ReceivedPart> ReceivedStatus<P> {
    fn into_task_status(self) -> Result<client::TaskStatus, ClientError> {
        let message = self.message.map(ReceivedMessage::into_addressed_message).transpose()?;
        Ok(client::TaskStatus {
            // Unknown states belong to a later protocol, or are invalid.
            state: P::DIALECT.parse_task_state(&self.state).unwrap_or(StateName::Unknown),
            message: message.map(|envelope| envelope.message),
            timestamp: self.timestamp.as_deref().and_then(parse_timestamp),
        })
    }
}

impl<P: ReceivedPart> ReceivedTask<P> {
    pub(super) fn into_task(self) -> Result<client::Task, ClientError> {
        let artifacts = self.artifacts.unwrap_or_default().into_iter().map(ReceivedArtifact::into_artifact);
        let history = self.history.unwrap_or_default().into_iter();
        let history =
            history.map(|message| message.into_addressed_message().map(|envelope| envelope.message));
        Ok(client::Task {
            id: require_task_id(self.id)?,
            context: non_empty_text(self.context_id),
            status: self.status.into_task_status()?,
            artifacts: artifacts.collect::<Result<_, _>>()?,
            history: history.collect::<Result<_, _>>()?,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl<P: ReceivedPart> ReceivedStatusUpdate<P> {
    pub(super) fn into_status_update(self) -> Result<client::StatusUpdate, ClientError> {
        let status = self.status.into_task_status()?;
        Ok(client::StatusUpdate {
            task: require_task_id(self.task_id)?,
            context: non_empty_text(self.context_id),
            last: self.last || (!P::DIALECT.has_kind_field() && client::is_final_task_state(status.state)),
            status,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl<P: ReceivedPart> ReceivedArtifactUpdate<P> {
    pub(super) fn into_artifact_update(self) -> Result<client::ArtifactUpdate, ClientError> {
        let chunk = domain::ArtifactChunk {
            artifact: self.artifact.into_artifact()?,
            append: self.append.unwrap_or_default(),
            last: self.last_chunk.unwrap_or_default(),
            joined: false,
        };
        Ok(client::ArtifactUpdate {
            task: require_task_id(self.task_id)?,
            context: non_empty_text(self.context_id),
            chunk,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl ReceivedStreamItem {
    pub(super) fn into_update(self) -> Result<TaskUpdate, ClientError> {
        match (self.task, self.message, self.status_update, self.artifact_update) {
            (Some(task), None, None, None) => Ok(TaskUpdate::Task(task.into_task()?)),
            (None, Some(message), None, None) => Ok(TaskUpdate::Message(message.into_addressed_message()?)),
            (None, None, Some(status), None) => Ok(TaskUpdate::Status(status.into_status_update()?)),
            (None, None, None, Some(artifact)) => Ok(TaskUpdate::Artifact(artifact.into_artifact_update()?)),
            _ => Err(ClientError::malformed_response_error(
                "an item holds exactly one of task, message, statusUpdate and artifactUpdate",
            )),
        }
    }
}

fn parse_parts<P: ReceivedPart>(parts: Vec<P>) -> Result<Vec<domain::Part>, ClientError> {
    parts.into_iter().map(P::into_part).collect()
}

/// An empty text counts as absent.
fn non_empty_text(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn require_task_id(id: String) -> Result<String, ClientError> {
    if id.is_empty() {
        return Err(ClientError::malformed_response_error("a task has no id"));
    }
    Ok(id)
}

/// Some agents write times without a zone. Such a time is dropped, so that the task can still be read.
fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(moment.as_millisecond()))
}
