//! What a call came to, as it is written: the result on JSON-RPC, the whole body on HTTP+JSON.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::{
    message::Message,
    push::{Written, WrittenList},
    task::Task,
};
use crate::ops::{History, Outcome, Page, Reply, Snapshot};

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
            Outcome::Reply(reply, history) => sent(reply, *history, serializer),
            Outcome::Task(snapshot, history) => {
                Task::new(snapshot, &snapshot.place(), *history).serialize(serializer)
            }
            Outcome::Page { page, history, artifacts } => {
                listed(page, *history, *artifacts, serializer)
            }
            Outcome::Push { task, push } => Written::new(task, push).serialize(serializer),
            Outcome::Pushes { task, pushes, next } => {
                WrittenList::new(task, pushes, next).serialize(serializer)
            }
            Outcome::ExtendedCard => self.card.serialize(serializer),
            Outcome::Done | Outcome::Stream(..) => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

/// The member that wraps it says whether it is a task or a message.
fn sent<S: Serializer>(reply: &Reply, history: History, serializer: S) -> Result<S::Ok, S::Error> {
    let mut wrapped = serializer.serialize_map(Some(1))?;
    match reply {
        Reply::Task(snapshot) => {
            wrapped.serialize_entry("task", &Task::new(snapshot, &snapshot.place(), history))?;
        }
        Reply::Message(said) => wrapped.serialize_entry("message", &Message::said(said))?,
    }
    wrapped.end()
}

fn listed<S: Serializer>(
    page: &Page,
    history: History,
    artifacts: bool,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let places: Vec<_> = page.tasks.iter().map(Snapshot::place).collect();
    let tasks: Vec<_> = page
        .tasks
        .iter()
        .zip(&places)
        .map(|(snapshot, place)| Task::listed(snapshot, place, history, artifacts))
        .collect();
    let mut fields = serializer.serialize_map(Some(4))?;
    fields.serialize_entry("tasks", &tasks)?;
    fields.serialize_entry("nextPageToken", &page.next)?;
    fields.serialize_entry("pageSize", &page.size)?;
    fields.serialize_entry("totalSize", &page.total)?;
    fields.end()
}
