//! What a call came to, as it is written.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{message::Message, push::Written, task::Task};
use crate::ops::{Outcome, Reply};

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
            Outcome::Reply(Reply::Task(snapshot), history) | Outcome::Task(snapshot, history) => {
                Task::new(snapshot, &snapshot.place(), *history).serialize(serializer)
            }
            Outcome::Reply(Reply::Message(said), _) => Message::said(said).serialize(serializer),
            Outcome::Push { task, push } => Written::new(task, push).serialize(serializer),
            Outcome::Pushes { task, pushes, .. } => {
                serializer.collect_seq(pushes.iter().map(|push| Written::new(task, push)))
            }
            Outcome::ExtendedCard => self.card.serialize(serializer),
            // Nothing of this generation lists tasks.
            Outcome::Done | Outcome::Page { .. } | Outcome::Stream(..) => {
                serializer.serialize_unit()
            }
        }
    }
}
