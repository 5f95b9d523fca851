//! The Task, and the updates of it.

use serde::{Serialize, Serializer};
use trackway_domain::{RunId, StateName, Timestamp};
use trackway_engine::{Omitted, StatusUpdate};

use super::message::{Message, Rest};
use crate::{
    ops::{History, Place, Snapshot},
    wire::{
        artifact::{Artifact, printed},
        metadata::Metadata,
    },
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task<'a> {
    id: RunId,
    context_id: &'a str,
    status: Status<'a>,
    artifacts: Vec<Artifact<'a, Rest>>,
    history: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata<'a>,
}

impl<'a> Task<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, place: &'a Place, history: History) -> Self {
        let view = &snapshot.view;
        let older = view.history().count().saturating_sub(history);
        Self {
            id: place.run,
            context_id: place.session.as_str(),
            status: Status {
                state: view.state,
                message: view.status_message().map(|message| Message::new(message, place)),
                timestamp: view.status_at,
            },
            artifacts: view.artifacts.iter().map(|artifact| Artifact::new(artifact)).collect(),
            history: view
                .history()
                .skip(older)
                .map(|message| Message::new(message, place))
                .collect(),
            metadata: Metadata::of(snapshot),
        }
    }
}

#[derive(Debug, Serialize)]
struct Status<'a> {
    #[serde(serialize_with = "named")]
    state: StateName,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<'a>>,
    #[serde(serialize_with = "printed")]
    timestamp: Timestamp,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskStatusUpdate<'a> {
    task_id: RunId,
    context_id: &'a str,
    status: Status<'a>,
    #[serde(rename = "final")]
    last: bool,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata<'a>,
}

impl<'a> TaskStatusUpdate<'a> {
    pub(super) fn new(
        update: &'a StatusUpdate,
        at: Timestamp,
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
            last: update.last,
            metadata: Metadata::of_status(update, omitted),
        }
    }
}

fn named<S: Serializer>(state: &StateName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match state {
        StateName::Submitted => "TASK_STATE_SUBMITTED",
        StateName::Working => "TASK_STATE_WORKING",
        StateName::InputRequired => "TASK_STATE_INPUT_REQUIRED",
        StateName::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        StateName::Completed => "TASK_STATE_COMPLETED",
        StateName::Failed => "TASK_STATE_FAILED",
        // With two l, in this generation alone.
        StateName::Canceled => "TASK_STATE_CANCELLED",
        StateName::Rejected => "TASK_STATE_REJECTED",
        StateName::Unknown => "TASK_STATE_UNSPECIFIED",
    })
}
