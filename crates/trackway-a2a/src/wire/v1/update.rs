//! What a stream carries: the Task once, then updates; or one message. The member that wraps an item
//! says what it is.

use serde::Serialize;
use trackway_domain as domain;
use trackway_engine::{Omitted, StatusUpdate};

use super::{
    message::{Message, V1},
    task::{Status, Task},
};
use crate::{
    ops::{History, Item, Place, Said, Seen},
    wire::{artifact::ArtifactUpdate, metadata::Metadata},
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StreamItem<'a> {
    Task(Task<'a>),
    Message(Message<'a>),
    StatusUpdate(TaskStatusUpdate<'a>),
    ArtifactUpdate(ArtifactUpdate<'a, V1>),
}

impl<'a> StreamItem<'a> {
    /// `history` bounds the messages of the Task.
    pub(crate) fn new(item: &'a Item, place: &'a Place, history: History) -> Self {
        match &item.seen {
            Seen::Snapshot(snapshot) => Self::Task(Task::new(snapshot, place, history)),
            Seen::Status(status, at) => {
                Self::StatusUpdate(TaskStatusUpdate::new(status, *at, place, &item.omitted))
            }
            Seen::Artifact(chunk) => {
                Self::ArtifactUpdate(ArtifactUpdate::new(chunk, place, &item.omitted))
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
    task_id: domain::RunId,
    context_id: &'a str,
    status: Status<'a>,
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
            task_id: place.run,
            context_id: place.session.as_str(),
            status: Status {
                state: update.state,
                message: update.message.as_ref().map(|message| Message::new(message, place)),
                timestamp: at,
            },
            metadata: Metadata::of_status(update, omitted),
        }
    }
}

#[cfg(test)]
mod tests;
