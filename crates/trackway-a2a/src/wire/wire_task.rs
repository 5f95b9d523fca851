//! The Task: the current state of a run.

use serde::{Serialize, Serializer, ser::SerializeMap};
use trackway_a2a_wire::{JsonDialect, ProtocolVersion, WireArtifact};
use trackway_domain::{self as domain, RunId, StateName, Timestamp};

use super::trackway_metadata::TrackwayMetadata;
use crate::operations::{DirectReply, HistoryLength, TaskRef, TaskSnapshot};

pub(crate) type WireTaskMessage<'a> = trackway_a2a_wire::WireMessage<'a, RunId>;

/// A message of a task.
pub(super) fn wire_task_message<'a>(
    message: &'a domain::Message,
    place: &'a TaskRef,
    dialect: JsonDialect,
) -> WireTaskMessage<'a> {
    WireTaskMessage { message, context: Some(place.session.as_str()), task: Some(place.run), dialect }
}

/// An answer that belongs to no task.
pub(super) fn wire_direct_reply_message(reply: &DirectReply, dialect: JsonDialect) -> WireTaskMessage<'_> {
    WireTaskMessage { message: &reply.message, context: Some(reply.session.as_str()), task: None, dialect }
}

#[derive(Debug)]
pub(crate) struct WireTask<'a> {
    snapshot: &'a TaskSnapshot,
    place: &'a TaskRef,
    /// At most this many of the newest messages; zero means none.
    history: HistoryLength,
    artifacts: ArtifactsField,
    dialect: JsonDialect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArtifactsField {
    /// Present even if empty, for a client that requested them.
    Always,
    /// Depends on the dialect: 1.0 does not write empty lists.
    ByDialect,
    Never,
}

impl<'a> WireTask<'a> {
    pub(crate) fn new(
        snapshot: &'a TaskSnapshot,
        place: &'a TaskRef,
        history: HistoryLength,
        dialect: JsonDialect,
    ) -> Self {
        Self { snapshot, place, history, artifacts: ArtifactsField::ByDialect, dialect }
    }

    /// The form in lists: with artifacts only if they were requested.
    pub(super) fn for_task_list(self, artifacts: bool) -> Self {
        let artifacts = if artifacts { ArtifactsField::Always } else { ArtifactsField::Never };
        Self { artifacts, ..self }
    }

    fn writes_artifacts_field(&self) -> bool {
        match self.artifacts {
            ArtifactsField::Always => true,
            ArtifactsField::Never => false,
            ArtifactsField::ByDialect => {
                let old = self.dialect.protocol_version() == ProtocolVersion::V03;
                old || !self.snapshot.view.artifacts.is_empty()
            }
        }
    }
}

impl Serialize for WireTask<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { snapshot, place, dialect, .. } = *self;
        let view = &snapshot.view;
        let mut fields = serializer.serialize_map(None)?;
        if dialect.has_kind_field() {
            fields.serialize_entry("kind", "task")?;
        }
        fields.serialize_entry("id", &place.run)?;
        fields.serialize_entry("contextId", place.session.as_str())?;
        let message = view.status_message().map(|message| &**message);
        let status = WireTaskStatus { state: view.state, message, at: view.status_at, place, dialect };
        fields.serialize_entry("status", &status)?;
        if self.writes_artifacts_field() {
            let artifacts = view.artifacts.iter().map(|artifact| WireArtifact { artifact, dialect });
            fields.serialize_entry("artifacts", &LazyList(|| artifacts.clone()))?;
        }
        if self.history > 0 || dialect == JsonDialect::V03Protobuf {
            let older = view.message_history().count().saturating_sub(self.history);
            let newest =
                || view.message_history().skip(older).map(|said| wire_task_message(said, place, dialect));
            fields.serialize_entry("history", &LazyList(newest))?;
        }
        let metadata = TrackwayMetadata::for_snapshot(snapshot);
        if !metadata.is_empty() {
            fields.serialize_entry("metadata", &metadata)?;
        }
        fields.end()
    }
}

/// Items that are written one after the other, without being collected first.
struct LazyList<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for LazyList<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A state, its time, and its message.
pub(super) struct WireTaskStatus<'a> {
    pub(super) state: StateName,
    pub(super) message: Option<&'a domain::Message>,
    pub(super) at: Timestamp,
    pub(super) place: &'a TaskRef,
    pub(super) dialect: JsonDialect,
}

impl Serialize for WireTaskStatus<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("state", self.dialect.state_name(self.state))?;
        if let Some(message) = self.message {
            fields.serialize_entry("message", &wire_task_message(message, self.place, self.dialect))?;
        }
        fields.serialize_entry("timestamp", &TimestampText(self.at))?;
        fields.end()
    }
}

/// A printed timestamp.
struct TimestampText(Timestamp);

impl Serialize for TimestampText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
