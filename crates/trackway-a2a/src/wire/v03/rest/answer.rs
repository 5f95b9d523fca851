//! What a call came to, and what a stream carries, as it is written.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::{
    message::{Message, Rest},
    task::{Task, TaskStatusUpdate},
};
use crate::{
    ops::{History, Item, Outcome, Place, Push, Reply, Said, Seen},
    wire::artifact::ArtifactUpdate,
};

/// Everything but streams, which are written event by event.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) outcome: &'a Outcome,
    /// The card that an [`Outcome::ExtendedCard`] stands for.
    pub(crate) card: &'a Value,
}

impl Serialize for Answer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.outcome {
            Outcome::Reply(Reply::Task(snapshot), history) => {
                let place = snapshot.place();
                let mut wrapped = serializer.serialize_map(Some(1))?;
                wrapped.serialize_entry("task", &Task::new(snapshot, &place, *history))?;
                wrapped.end()
            }
            Outcome::Reply(Reply::Message(said), _) => {
                let mut wrapped = serializer.serialize_map(Some(1))?;
                wrapped.serialize_entry("message", &Message::said(said))?;
                wrapped.end()
            }
            Outcome::Task(snapshot, history) => {
                Task::new(snapshot, &snapshot.place(), *history).serialize(serializer)
            }
            Outcome::Push { task, push } => named(task, push).serialize(serializer),
            Outcome::Pushes { task, pushes, .. } => {
                let configs: Vec<_> = pushes.iter().map(|push| named(task, push)).collect();
                json!({ "configs": configs }).serialize(serializer)
            }
            Outcome::ExtendedCard => self.card.serialize(serializer),
            // Nothing of this generation lists tasks.
            Outcome::Done | Outcome::Page { .. } | Outcome::Stream(..) => {
                serializer.serialize_map(Some(0))?.end()
            }
        }
    }
}

/// A configuration under its name, which says whose it is.
fn named(task: &str, push: &Push) -> Value {
    let id = push.id.as_deref().unwrap_or_default();
    let mut config = json!({ "id": id, "url": push.url });
    if let Some(token) = &push.token {
        config["token"] = json!(token);
    }
    if let Some(known) = &push.authentication {
        config["authentication"] = json!({ "schemes": [known.scheme] });
        if let Some(credentials) = &known.credentials {
            config["authentication"]["credentials"] = json!(credentials);
        }
    }
    let name = format!("tasks/{task}/pushNotificationConfigs/{id}");
    json!({ "name": name, "pushNotificationConfig": config })
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StreamItem<'a> {
    Task(Task<'a>),
    Message(Message<'a>),
    StatusUpdate(TaskStatusUpdate<'a>),
    ArtifactUpdate(ArtifactUpdate<'a, Rest>),
}

impl<'a> StreamItem<'a> {
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
