//! What a store knows about guided runs in addition to their events: where a node and an attempt are
//! recorded, and the definitions that runs are pinned to. The indexes are derived from the events.

use trackway_domain::{
    AckId, AttemptOutcome, Event, GuidedNode, GuidedRunEvent, NodeAttempt, NodeId, RunId, Seq, SessionId,
    Timestamp, WorkflowRef,
};

use crate::{RunRow, StoredEvent};

/// Where a node is recorded, and what is needed to answer it, in one read.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredNode {
    /// The event that made the node, or that last changed its definition.
    pub defining_event: StoredEvent,
    /// Number of the run's last event.
    pub head: Seq,
    /// That event is [`Event::Imported`]: the run is not adopted yet.
    pub is_unadopted: bool,
    pub row: RunRow,
    /// How many attempts have advanced from this node.
    pub branch_count: u32,
    /// How many attempts at this node were blocked.
    pub blocked_count: u32,
}

/// A node that gets an answer, and the record of that same answer, if there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeWithAttempt {
    pub node: StoredNode,
    pub attempt: Option<StoredEvent>,
}

/// What identifies an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AttemptKey {
    pub run: RunId,
    pub node: NodeId,
    pub ack: AckId,
    pub digest: String,
}

/// A definition that a run is pinned to. The same hash always has the same body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedDefinition {
    pub hash: String,
    pub body: String,
}

/// One session in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    /// The workflows of its runs, one for each run.
    pub workflows: Vec<WorkflowRef>,
    /// When its first run started.
    pub created_at: Timestamp,
    /// When its newest event was recorded.
    pub updated_at: Timestamp,
}

/// The node that this event makes, or whose definition it changes.
pub fn node_in_event(event: &Event) -> Option<&GuidedNode> {
    let Event::Guided(guided) = event else { return None };
    match &**guided {
        GuidedRunEvent::Opened { node, .. } | GuidedRunEvent::Repinned { node } => Some(node),
        GuidedRunEvent::Attempted(NodeAttempt { outcome: AttemptOutcome::Advanced(node), .. }) => Some(node),
        GuidedRunEvent::Attempted(_) | GuidedRunEvent::Checkpointed(_) => None,
    }
}

/// The attempt that this event records.
pub fn attempt_in_event(event: &Event) -> Option<&NodeAttempt> {
    let Event::Guided(guided) = event else { return None };
    match &**guided {
        GuidedRunEvent::Attempted(attempt) => Some(attempt),
        _ => None,
    }
}
