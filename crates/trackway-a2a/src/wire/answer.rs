//! Writes the outcome of a call: the result on JSON-RPC, the whole body on HTTP+JSON.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;
use trackway_a2a_wire::{Dialect, PushConfig};

use super::{task::Task, update::StreamItem};
use crate::ops::{History, Outcome, Page, Push, Reply, Snapshot};

/// Every outcome except streams, which are written event by event.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) outcome: &'a Outcome,
    /// The card of an [`Outcome::ExtendedCard`].
    pub(crate) card: &'a Value,
    pub(crate) dialect: Dialect,
}

impl Serialize for Answer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let dialect = self.dialect;
        match self.outcome {
            Outcome::Reply(Reply::Task(snapshot), history) => {
                let place = snapshot.place();
                let task = Task::new(snapshot, &place, *history, dialect);
                StreamItem::task(task, dialect).serialize(serializer)
            }
            Outcome::Reply(Reply::Message(said), _) => {
                StreamItem::said(said, dialect).serialize(serializer)
            }
            Outcome::Task(snapshot, history) => {
                Task::new(snapshot, &snapshot.place(), *history, dialect).serialize(serializer)
            }
            Outcome::Page { page, history, artifacts } => {
                listed(page, *history, *artifacts, dialect, serializer)
            }
            Outcome::Push { task, push } => {
                WrittenPush { task, push, dialect }.serialize(serializer)
            }
            Outcome::Pushes { task, pushes, next } => {
                let configs = pushes.iter().map(|push| WrittenPush { task, push, dialect });
                if dialect == Dialect::V03 {
                    return serializer.collect_seq(configs);
                }
                let mut fields = serializer.serialize_map(None)?;
                fields.serialize_entry("configs", &configs.collect::<Vec<_>>())?;
                if dialect == Dialect::V1 {
                    fields.serialize_entry("nextPageToken", next)?;
                }
                fields.end()
            }
            Outcome::ExtendedCard => self.card.serialize(serializer),
            Outcome::Done | Outcome::Stream(..) if dialect == Dialect::V03 => {
                serializer.serialize_unit()
            }
            Outcome::Done | Outcome::Stream(..) => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

/// Only 1.0 lists tasks.
fn listed<S: Serializer>(
    page: &Page,
    history: History,
    artifacts: bool,
    dialect: Dialect,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let places: Vec<_> = page.tasks.iter().map(Snapshot::place).collect();
    let tasks =
        page.tasks.iter().zip(&places).map(|(snapshot, place)| {
            Task::new(snapshot, place, history, dialect).listed(artifacts)
        });
    let mut fields = serializer.serialize_map(Some(4))?;
    fields.serialize_entry("tasks", &tasks.collect::<Vec<_>>())?;
    fields.serialize_entry("nextPageToken", &page.next)?;
    fields.serialize_entry("pageSize", &page.size)?;
    fields.serialize_entry("totalSize", &page.total)?;
    fields.end()
}

/// A configuration and its task.
struct WrittenPush<'a> {
    task: &'a str,
    push: &'a Push,
    dialect: Dialect,
}

impl Serialize for WrittenPush<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { task, push, dialect } = *self;
        let id = push.id.as_deref().unwrap_or_default();
        let known = push.authentication.as_ref();
        let config = PushConfig {
            id: if dialect == Dialect::V03 { push.id.as_deref() } else { Some(id) },
            url: &push.url,
            token: push.token.as_deref(),
            authentication: known.map(|known| (&*known.scheme, known.credentials.as_deref())),
            task: (dialect == Dialect::V1).then_some(task),
            generation: dialect.generation(),
        };
        let mut fields = match dialect {
            Dialect::V1 => return config.serialize(serializer),
            Dialect::V03 | Dialect::V03Proto => serializer.serialize_map(Some(2))?,
        };
        if dialect == Dialect::V03 {
            fields.serialize_entry("taskId", task)?;
        } else {
            let name = format!("tasks/{task}/pushNotificationConfigs/{id}");
            fields.serialize_entry("name", &name)?;
        }
        fields.serialize_entry("pushNotificationConfig", &config)?;
        fields.end()
    }
}
