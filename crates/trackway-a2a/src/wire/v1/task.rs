//! The Task: a run as it stands.

use serde::{Serialize, Serializer};
use trackway_domain::{self as domain, StateName, Timestamp};
use trackway_engine::RunView;

use super::{
    message::{Message, V1},
    state,
};
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
    id: domain::RunId,
    context_id: &'a str,
    status: Status<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifacts: Option<Artifacts<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Newest<'a>>,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata<'a>,
}

impl<'a> Task<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, place: &'a Place, history: History) -> Self {
        let view = &snapshot.view;
        Self {
            id: place.run,
            context_id: place.session.as_str(),
            status: Status {
                state: view.state,
                message: view.status_message().map(|message| Message::new(message, place)),
                timestamp: view.status_at,
            },
            artifacts: (!view.artifacts.is_empty()).then_some(Artifacts(view)),
            history: (history > 0).then_some(Newest { view, place, messages: history }),
            metadata: Metadata::of(snapshot),
        }
    }

    /// The same without its artifacts, as lists have it.
    pub(super) fn listed(
        snapshot: &'a Snapshot,
        place: &'a Place,
        history: History,
        artifacts: bool,
    ) -> Self {
        let mut task = Self::new(snapshot, place, history);
        if artifacts {
            // Whoever asked for them sees that there are none.
            task.artifacts = Some(Artifacts(&snapshot.view));
        } else {
            task.artifacts = None;
        }
        task
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Status<'a> {
    #[serde(serialize_with = "named")]
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
            .collect_seq(self.0.artifacts.iter().map(|artifact| Artifact::<V1>::new(artifact)))
    }
}

/// The newest messages of the history.
#[derive(Debug)]
struct Newest<'a> {
    view: &'a RunView,
    place: &'a Place,
    messages: History,
}

impl Serialize for Newest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let older = self.view.history().count().saturating_sub(self.messages);
        let shown = self.view.history().skip(older);
        serializer.collect_seq(shown.map(|message| Message::new(message, self.place)))
    }
}

fn named<S: Serializer>(name: &StateName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state::written(*name))
}

#[cfg(test)]
mod tests;
