//! What a stream carries: the Task once, then updates.

use serde::Serialize;
use trackway_domain as domain;
use trackway_engine::{Omitted, StatusUpdate};

use super::message::{Message, V03};
use super::task::{Status, Task};
use crate::{
    ops::{Item, Place, Said, Seen},
    wire::{artifact::ArtifactUpdate, metadata::Metadata},
};

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum StreamItem<'a> {
    Task(Task<'a>),
    Message(Message<'a>),
    Status(TaskStatusUpdate<'a>),
    Artifact(TaskArtifactUpdate<'a>),
}

impl<'a> StreamItem<'a> {
    /// `history` bounds the messages of the Task.
    pub(crate) fn new(item: &'a Item, place: &'a Place, history: usize) -> Self {
        match &item.seen {
            Seen::Snapshot(snapshot) => Self::Task(Task::new(snapshot, place, history)),
            Seen::Status(status, at) => {
                Self::Status(TaskStatusUpdate::new(status, *at, place, &item.omitted))
            }
            Seen::Artifact(chunk) => {
                Self::Artifact(TaskArtifactUpdate::new(chunk, place, &item.omitted))
            }
        }
    }

    pub(crate) fn said(said: &'a Said) -> Self {
        Self::Message(Message::said(said))
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskStatusUpdate<'a> {
    kind: &'static str,
    task_id: domain::RunId,
    context_id: &'a str,
    status: Status<'a>,
    #[serde(rename = "final")]
    last: bool,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata<'a>,
}

impl<'a> TaskStatusUpdate<'a> {
    fn new(
        update: &'a StatusUpdate,
        at: domain::Timestamp,
        place: &'a Place,
        omitted: &'a Omitted,
    ) -> Self {
        Self {
            kind: "status-update",
            task_id: place.run,
            context_id: place.session.as_str(),
            status: Status {
                state: update.state,
                message: update.message.as_ref().map(|message| Message::new(message, place)),
                timestamp: at,
            },
            last: update.last,
            metadata: Metadata::of_status(update, omitted),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct TaskArtifactUpdate<'a> {
    kind: &'static str,
    #[serde(flatten)]
    update: ArtifactUpdate<'a, V03>,
}

impl<'a> TaskArtifactUpdate<'a> {
    fn new(chunk: &'a domain::ArtifactChunk, place: &'a Place, omitted: &'a Omitted) -> Self {
        Self { kind: "artifact-update", update: ArtifactUpdate::new(chunk, place, omitted) }
    }
}

#[cfg(test)]
mod tests;
