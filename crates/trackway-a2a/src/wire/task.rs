//! The Task: the current state of a run.

use serde::{Serialize, Serializer, ser::SerializeMap};
use trackway_a2a_wire::{Artifact, Dialect, Generation};
use trackway_domain::{self as domain, RunId, StateName, Timestamp};

use super::metadata::Metadata;
use crate::ops::{History, Place, Said, Snapshot};

pub(crate) type Message<'a> = trackway_a2a_wire::Message<'a, RunId>;

/// A message of a task.
pub(super) fn message_of<'a>(
    message: &'a domain::Message,
    place: &'a Place,
    dialect: Dialect,
) -> Message<'a> {
    Message { message, context: Some(place.session.as_str()), task: Some(place.run), dialect }
}

/// An answer that belongs to no task.
pub(super) fn said(said: &Said, dialect: Dialect) -> Message<'_> {
    Message { message: &said.message, context: Some(said.session.as_str()), task: None, dialect }
}

#[derive(Debug)]
pub(crate) struct Task<'a> {
    snapshot: &'a Snapshot,
    place: &'a Place,
    /// At most this many of the newest messages; zero means none.
    history: History,
    artifacts: Artifacts,
    dialect: Dialect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Artifacts {
    /// Present even if empty, for a client that requested them.
    Listed,
    /// Depends on the dialect: 1.0 does not write empty lists.
    Usual,
    LeftOut,
}

impl<'a> Task<'a> {
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        place: &'a Place,
        history: History,
        dialect: Dialect,
    ) -> Self {
        Self { snapshot, place, history, artifacts: Artifacts::Usual, dialect }
    }

    /// The form in lists: with artifacts only if they were requested.
    pub(super) fn listed(self, artifacts: bool) -> Self {
        let artifacts = if artifacts { Artifacts::Listed } else { Artifacts::LeftOut };
        Self { artifacts, ..self }
    }

    fn has_artifacts(&self) -> bool {
        match self.artifacts {
            Artifacts::Listed => true,
            Artifacts::LeftOut => false,
            Artifacts::Usual => {
                let old = self.dialect.generation() == Generation::V03;
                old || !self.snapshot.view.artifacts.is_empty()
            }
        }
    }
}

impl Serialize for Task<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { snapshot, place, dialect, .. } = *self;
        let view = &snapshot.view;
        let mut fields = serializer.serialize_map(None)?;
        if dialect.is_tagged() {
            fields.serialize_entry("kind", "task")?;
        }
        fields.serialize_entry("id", &place.run)?;
        fields.serialize_entry("contextId", place.session.as_str())?;
        let message = view.status_message().map(|message| &**message);
        let status = Status { state: view.state, message, at: view.status_at, place, dialect };
        fields.serialize_entry("status", &status)?;
        if self.has_artifacts() {
            let artifacts = view.artifacts.iter().map(|artifact| Artifact { artifact, dialect });
            fields.serialize_entry("artifacts", &List(|| artifacts.clone()))?;
        }
        if self.history > 0 || dialect == Dialect::V03Proto {
            let older = view.history().count().saturating_sub(self.history);
            let newest = || view.history().skip(older).map(|said| message_of(said, place, dialect));
            fields.serialize_entry("history", &List(newest))?;
        }
        let metadata = Metadata::of(snapshot);
        if !metadata.is_empty() {
            fields.serialize_entry("metadata", &metadata)?;
        }
        fields.end()
    }
}

/// Items that are written one after the other, without being collected first.
struct List<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A state, its time, and its message.
pub(super) struct Status<'a> {
    pub(super) state: StateName,
    pub(super) message: Option<&'a domain::Message>,
    pub(super) at: Timestamp,
    pub(super) place: &'a Place,
    pub(super) dialect: Dialect,
}

impl Serialize for Status<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("state", self.dialect.state(self.state))?;
        if let Some(message) = self.message {
            fields.serialize_entry("message", &message_of(message, self.place, self.dialect))?;
        }
        fields.serialize_entry("timestamp", &Printed(self.at))?;
        fields.end()
    }
}

/// A printed timestamp.
struct Printed(Timestamp);

impl Serialize for Printed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
