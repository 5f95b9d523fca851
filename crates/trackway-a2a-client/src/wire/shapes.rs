//! The forms that both generations share in answers; the part differs.

use std::fmt::Debug;

use serde::{Deserialize, de::DeserializeOwned};
use trackway_a2a_wire::{Dialect, NotOneContent, PartV1};
use trackway_domain::{self as domain, ArtifactId, MessageId, Object, StateName, Timestamp};

use crate::{self as client, ClientError, Envelope, Update};

/// A part of one generation.
pub(super) trait Reading: Debug + DeserializeOwned {
    const DIALECT: Dialect;

    fn read(self) -> Result<domain::Part, ClientError>;
}

impl Reading for PartV1 {
    const DIALECT: Dialect = Dialect::V1;

    fn read(self) -> Result<domain::Part, ClientError> {
        self.part().map_err(|NotOneContent| {
            ClientError::malformed("a part holds exactly one of text, raw, url and data")
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct Message<P: Reading> {
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
pub(super) struct Artifact<P: Reading> {
    artifact_id: String,
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    parts: Vec<P>,
    metadata: Option<Object>,
}

#[derive(Debug, Deserialize)]
#[serde(bound = "")]
struct Status<P: Reading> {
    state: String,
    message: Option<Message<P>>,
    timestamp: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct Task<P: Reading> {
    id: String,
    context_id: Option<String>,
    status: Status<P>,
    artifacts: Option<Vec<Artifact<P>>>,
    history: Option<Vec<Message<P>>>,
    metadata: Option<Object>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct StatusUpdate<P: Reading> {
    task_id: String,
    context_id: Option<String>,
    status: Status<P>,
    metadata: Option<Object>,
    #[serde(default, rename = "final")]
    last: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct ArtifactUpdate<P: Reading> {
    task_id: String,
    context_id: Option<String>,
    artifact: Artifact<P>,
    append: Option<bool>,
    last_chunk: Option<bool>,
    metadata: Option<Object>,
}

/// An item of 1.0: the member that is present identifies it. A send is answered with one too.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StreamResponse {
    task: Option<Task<PartV1>>,
    message: Option<Message<PartV1>>,
    status_update: Option<StatusUpdate<PartV1>>,
    artifact_update: Option<ArtifactUpdate<PartV1>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "")]
pub(super) struct Page<P: Reading> {
    pub(super) tasks: Option<Vec<Task<P>>>,
    pub(super) next_page_token: Option<String>,
    pub(super) total_size: Option<u64>,
}

impl<P: Reading> Message<P> {
    pub(super) fn taken(self) -> Result<Envelope, ClientError> {
        let role = P::DIALECT.role_named(&self.role);
        let message = domain::Message {
            id: MessageId::new(&self.message_id).map_err(ClientError::malformed)?,
            role: role.ok_or_else(|| {
                ClientError::malformed(format_args!("{:?} is not a role", self.role))
            })?,
            parts: parts::<P>(self.parts)?,
            metadata: self.metadata.unwrap_or_default(),
            references: self.reference_task_ids.unwrap_or_default(),
            extensions: self.extensions.unwrap_or_default(),
        };
        Ok(Envelope { message, task: filled(self.task_id), context: filled(self.context_id) })
    }
}

impl<P: Reading> Artifact<P> {
    fn taken(self) -> Result<domain::Artifact, ClientError> {
        Ok(domain::Artifact {
            id: ArtifactId::new(&self.artifact_id).map_err(ClientError::malformed)?,
            name: filled(self.name),
            description: filled(self.description),
            parts: parts::<P>(self.parts)?,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl<P: Reading> Status<P> {
    fn taken(self) -> Result<client::TaskStatus, ClientError> {
        let message = self.message.map(Message::taken).transpose()?;
        Ok(client::TaskStatus {
            // Unknown states belong to a later protocol, or are invalid.
            state: P::DIALECT.state_named(&self.state).unwrap_or(StateName::Unknown),
            message: message.map(|envelope| envelope.message),
            timestamp: self.timestamp.as_deref().and_then(moment),
        })
    }
}

impl<P: Reading> Task<P> {
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

impl<P: Reading> StatusUpdate<P> {
    pub(super) fn taken(self) -> Result<client::StatusUpdate, ClientError> {
        let status = self.status.taken()?;
        Ok(client::StatusUpdate {
            task: named(self.task_id)?,
            context: filled(self.context_id),
            last: self.last || (!P::DIALECT.is_tagged() && client::is_over(status.state)),
            status,
            metadata: self.metadata.unwrap_or_default(),
        })
    }
}

impl<P: Reading> ArtifactUpdate<P> {
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

fn parts<P: Reading>(parts: Vec<P>) -> Result<Vec<domain::Part>, ClientError> {
    parts.into_iter().map(P::read).collect()
}

/// An empty text counts as absent.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn named(id: String) -> Result<String, ClientError> {
    if id.is_empty() {
        return Err(ClientError::malformed("a task has no id"));
    }
    Ok(id)
}

/// Some agents write times without a zone. Such a time is dropped, so that the task can still be read.
fn moment(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(moment.as_millisecond()))
}
