//! The content of a stream: the Task once, then updates; or one message.

use serde::{Serialize, Serializer, ser::SerializeMap};
use trackway_a2a_wire::{JsonDialect, ProtocolVersion, WireArtifact};
use trackway_domain::{ArtifactChunk, Timestamp};
use trackway_engine::{OmittedContent, StatusUpdate};

use super::{
    trackway_metadata::TrackwayMetadata,
    wire_task::{WireTask, WireTaskMessage, WireTaskStatus, wire_direct_reply_message},
};
use crate::operations::{DirectReply, HistoryLength, TaskEvent, TaskEventContent, TaskRef};

/// If values do not name their kind, the member that wraps one does.
#[derive(Debug)]
pub(crate) struct WireStreamItem<'a> {
    content: StreamItemContent<'a>,
    dialect: JsonDialect,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum StreamItemContent<'a> {
    Task(WireTask<'a>),
    Message(WireTaskMessage<'a>),
    Status(TaskStatusUpdate<'a>),
    Artifact(TaskArtifactUpdate<'a>),
}

impl<'a> WireStreamItem<'a> {
    /// `history` limits the messages of the Task.
    pub(crate) fn new(
        item: &'a TaskEvent,
        place: &'a TaskRef,
        history: HistoryLength,
        dialect: JsonDialect,
    ) -> Self {
        let omitted = &item.omitted;
        let shown = match &item.content {
            TaskEventContent::Snapshot(snapshot) => {
                StreamItemContent::Task(WireTask::new(snapshot, place, history, dialect))
            }
            TaskEventContent::Status(update, at) => {
                StreamItemContent::Status(TaskStatusUpdate { update, at: *at, place, omitted, dialect })
            }
            TaskEventContent::Artifact(chunk) => {
                StreamItemContent::Artifact(TaskArtifactUpdate { chunk, place, omitted, dialect })
            }
        };
        Self { content: shown, dialect }
    }

    /// An answer without a task.
    pub(crate) fn from_direct_reply(answer: &'a DirectReply, dialect: JsonDialect) -> Self {
        Self { content: StreamItemContent::Message(wire_direct_reply_message(answer, dialect)), dialect }
    }

    /// The outcome of a send.
    pub(super) fn from_task(task: WireTask<'a>, dialect: JsonDialect) -> Self {
        Self { content: StreamItemContent::Task(task), dialect }
    }
}

impl Serialize for WireStreamItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.dialect.has_kind_field() {
            return self.content.serialize(serializer);
        }
        let name = match &self.content {
            StreamItemContent::Task(_) => "task",
            StreamItemContent::Message(_) => "message",
            StreamItemContent::Status(_) => "statusUpdate",
            StreamItemContent::Artifact(_) => "artifactUpdate",
        };
        let mut wrapped = serializer.serialize_map(Some(1))?;
        wrapped.serialize_entry(name, &self.content)?;
        wrapped.end()
    }
}

#[derive(Debug)]
struct TaskStatusUpdate<'a> {
    update: &'a StatusUpdate,
    at: Timestamp,
    place: &'a TaskRef,
    omitted: &'a OmittedContent,
    dialect: JsonDialect,
}

impl Serialize for TaskStatusUpdate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { update, at, place, omitted, dialect } = *self;
        let mut fields = serializer.serialize_map(None)?;
        if dialect.has_kind_field() {
            fields.serialize_entry("kind", "status-update")?;
        }
        fields.serialize_entry("taskId", &place.run)?;
        fields.serialize_entry("contextId", place.session.as_str())?;
        let message = update.message.as_ref();
        let status = WireTaskStatus { state: update.state, message, at, place, dialect };
        fields.serialize_entry("status", &status)?;
        if dialect.protocol_version() == ProtocolVersion::V03 {
            fields.serialize_entry("final", &update.last)?;
        }
        let metadata = TrackwayMetadata::for_status(update, omitted);
        if !metadata.is_empty() {
            fields.serialize_entry("metadata", &metadata)?;
        }
        fields.end()
    }
}

#[derive(Debug)]
struct TaskArtifactUpdate<'a> {
    chunk: &'a ArtifactChunk,
    place: &'a TaskRef,
    omitted: &'a OmittedContent,
    dialect: JsonDialect,
}

impl Serialize for TaskArtifactUpdate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { chunk, place, omitted, dialect } = *self;
        let mut fields = serializer.serialize_map(None)?;
        if dialect.has_kind_field() {
            fields.serialize_entry("kind", "artifact-update")?;
        }
        fields.serialize_entry("taskId", &place.run)?;
        fields.serialize_entry("contextId", place.session.as_str())?;
        let artifact = WireArtifact { artifact: &chunk.artifact, dialect };
        fields.serialize_entry("artifact", &artifact)?;
        fields.serialize_entry("append", &chunk.append)?;
        fields.serialize_entry("lastChunk", &chunk.last)?;
        let metadata = TrackwayMetadata::for_artifact(omitted);
        if !metadata.is_empty() {
            fields.serialize_entry("metadata", &metadata)?;
        }
        fields.end()
    }
}
