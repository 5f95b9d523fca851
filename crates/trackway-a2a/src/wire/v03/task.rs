//! The Task: a run as it stands.

use serde::{Serialize, Serializer};
use trackway_domain::{self as domain, StateName, Timestamp};
use trackway_engine::RunView;

use super::message::{Message, V03};
use crate::{
    ops::{Place, Snapshot},
    wire::{
        artifact::{Artifact, printed},
        metadata::Metadata,
    },
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task<'a> {
    kind: &'static str,
    id: domain::RunId,
    context_id: &'a str,
    status: Status<'a>,
    artifacts: Artifacts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<History<'a>>,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata<'a>,
}

impl<'a> Task<'a> {
    /// `history`: at most that many of the newest messages; none at all for zero.
    pub(crate) fn new(snapshot: &'a Snapshot, place: &'a Place, history: usize) -> Self {
        let view = &snapshot.view;
        Self {
            kind: "task",
            id: place.run,
            context_id: place.session.as_str(),
            status: Status {
                state: view.state,
                message: view.status_message().map(|message| Message::new(message, place)),
                timestamp: view.status_at,
            },
            artifacts: Artifacts(view),
            history: (history > 0).then_some(History { view, place, newest: history }),
            metadata: Metadata::of(snapshot),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Status<'a> {
    #[serde(serialize_with = "state")]
    pub(super) state: StateName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message<'a>>,
    #[serde(serialize_with = "printed")]
    pub(super) timestamp: Timestamp,
}

#[derive(Debug)]
struct Artifacts<'a>(&'a RunView);

impl Serialize for Artifacts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_seq(self.0.artifacts.iter().map(|artifact| Artifact::<V03>::new(artifact)))
    }
}

#[derive(Debug)]
struct History<'a> {
    view: &'a RunView,
    place: &'a Place,
    newest: usize,
}

impl Serialize for History<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let older = self.view.history().count().saturating_sub(self.newest);
        let shown = self.view.history().skip(older);
        serializer.collect_seq(shown.map(|message| Message::new(message, self.place)))
    }
}

/// The domain's names of states are those of 0.3; the match keeps a new one from slipping through.
fn state<S: Serializer>(state: &StateName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match state {
        StateName::Submitted => "submitted",
        StateName::Working => "working",
        StateName::InputRequired => "input-required",
        StateName::AuthRequired => "auth-required",
        StateName::Completed => "completed",
        StateName::Failed => "failed",
        StateName::Canceled => "canceled",
        StateName::Rejected => "rejected",
        StateName::Unknown => "unknown",
    })
}

#[cfg(test)]
mod tests;
