//! What the index of guided runs notes of one event, with its values as stored.

use trackway_domain::{AttemptOutcome, Event};
use trackway_ports::{attempt_of, node_of};

#[derive(Debug)]
pub(crate) struct Marks {
    pub(crate) node: Option<NodeMark>,
    pub(crate) attempt: Option<AttemptMark>,
}

/// A node that the event makes, or reads anew.
#[derive(Debug)]
pub(crate) struct NodeMark {
    pub(crate) id: String,
    /// Hash of the definition that it is read by.
    pub(crate) definition: String,
}

#[derive(Debug)]
pub(crate) struct AttemptMark {
    pub(crate) node: String,
    pub(crate) ack: String,
    pub(crate) digest: String,
    pub(crate) advanced: bool,
}

impl Marks {
    /// None for an event that the index has nothing of: all those of other runs.
    pub(crate) fn of(event: &Event) -> Option<Box<Self>> {
        let node = node_of(event)
            .map(|node| NodeMark { id: node.id.to_string(), definition: node.definition.clone() });
        let attempt = attempt_of(event).map(|attempt| AttemptMark {
            node: attempt.node.to_string(),
            ack: attempt.ack.to_string(),
            digest: attempt.digest.clone(),
            advanced: matches!(attempt.outcome, AttemptOutcome::Advanced(_)),
        });
        (node.is_some() || attempt.is_some()).then(|| Box::new(Self { node, attempt }))
    }
}
