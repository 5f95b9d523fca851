//! The content of a stream: the Task once, then updates; or one message.

use serde::{Serialize, Serializer, ser::SerializeMap};
use trackway_a2a_wire::{Artifact, Dialect, Generation};
use trackway_domain::{ArtifactChunk, Timestamp};
use trackway_engine::{Omitted, StatusUpdate};

use super::{
    metadata::Metadata,
    task::{Message, Status, Task, said},
};
use crate::ops::{History, Item, Place, Said, Seen};

/// If values do not name their kind, the member that wraps one does.
#[derive(Debug)]
pub(crate) struct StreamItem<'a> {
    shown: Shown<'a>,
    dialect: Dialect,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Shown<'a> {
    Task(Task<'a>),
    Message(Message<'a>),
    Status(TaskStatusUpdate<'a>),
    Artifact(TaskArtifactUpdate<'a>),
}

impl<'a> StreamItem<'a> {
    /// `history` limits the messages of the Task.
    pub(crate) fn new(
        item: &'a Item,
        place: &'a Place,
        history: History,
        dialect: Dialect,
    ) -> Self {
        let omitted = &item.omitted;
        let shown = match &item.seen {
            Seen::Snapshot(snapshot) => Shown::Task(Task::new(snapshot, place, history, dialect)),
            Seen::Status(update, at) => {
                Shown::Status(TaskStatusUpdate { update, at: *at, place, omitted, dialect })
            }
            Seen::Artifact(chunk) => {
                Shown::Artifact(TaskArtifactUpdate { chunk, place, omitted, dialect })
            }
        };
        Self { shown, dialect }
    }

    /// An answer without a task.
    pub(crate) fn said(answer: &'a Said, dialect: Dialect) -> Self {
        Self { shown: Shown::Message(said(answer, dialect)), dialect }
    }

    /// The outcome of a send.
    pub(super) fn task(task: Task<'a>, dialect: Dialect) -> Self {
        Self { shown: Shown::Task(task), dialect }
    }
}

impl Serialize for StreamItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.dialect.is_tagged() {
            return self.shown.serialize(serializer);
        }
        let name = match &self.shown {
            Shown::Task(_) => "task",
            Shown::Message(_) => "message",
            Shown::Status(_) => "statusUpdate",
            Shown::Artifact(_) => "artifactUpdate",
        };
        let mut wrapped = serializer.serialize_map(Some(1))?;
        wrapped.serialize_entry(name, &self.shown)?;
        wrapped.end()
    }
}

#[derive(Debug)]
struct TaskStatusUpdate<'a> {
    update: &'a StatusUpdate,
    at: Timestamp,
    place: &'a Place,
    omitted: &'a Omitted,
    dialect: Dialect,
}

impl Serialize for TaskStatusUpdate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { update, at, place, omitted, dialect } = *self;
        let mut fields = serializer.serialize_map(None)?;
        if dialect.is_tagged() {
            fields.serialize_entry("kind", "status-update")?;
        }
        fields.serialize_entry("taskId", &place.run)?;
        fields.serialize_entry("contextId", place.session.as_str())?;
        let message = update.message.as_ref();
        let status = Status { state: update.state, message, at, place, dialect };
        fields.serialize_entry("status", &status)?;
        if dialect.generation() == Generation::V03 {
            fields.serialize_entry("final", &update.last)?;
        }
        let metadata = Metadata::of_status(update, omitted);
        if !metadata.is_empty() {
            fields.serialize_entry("metadata", &metadata)?;
        }
        fields.end()
    }
}

#[derive(Debug)]
struct TaskArtifactUpdate<'a> {
    chunk: &'a ArtifactChunk,
    place: &'a Place,
    omitted: &'a Omitted,
    dialect: Dialect,
}

impl Serialize for TaskArtifactUpdate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { chunk, place, omitted, dialect } = *self;
        let mut fields = serializer.serialize_map(None)?;
        if dialect.is_tagged() {
            fields.serialize_entry("kind", "artifact-update")?;
        }
        fields.serialize_entry("taskId", &place.run)?;
        fields.serialize_entry("contextId", place.session.as_str())?;
        let artifact = Artifact { artifact: &chunk.artifact, dialect };
        fields.serialize_entry("artifact", &artifact)?;
        fields.serialize_entry("append", &chunk.append)?;
        fields.serialize_entry("lastChunk", &chunk.last)?;
        let metadata = Metadata::of_artifact(omitted);
        if !metadata.is_empty() {
            fields.serialize_entry("metadata", &metadata)?;
        }
        fields.end()
    }
}
