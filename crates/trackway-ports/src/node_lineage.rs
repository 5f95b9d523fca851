//! The surroundings of a node of a guided run: its path, the checkpoints on the path, and the branches
//! that start at it. The cost of a read depends only on its limits, not on the length of the run.

use std::collections::HashMap;

use trackway_domain::{Event, GuidedRunEvent, NodeId};

use crate::{StoredEvent, attempt_in_event, node_in_event};

/// How much of a lineage is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineageLimits {
    /// Nodes on the path back, including the node itself.
    pub path: usize,
    /// Checkpoints on the nodes of the path.
    pub checkpoints: usize,
    /// Branches that start at the node.
    pub children: usize,
    /// Nodes that are followed along each branch.
    pub depth: usize,
}

/// The surroundings of a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeLineage {
    /// The events that made the nodes of the path: the node's own first, then its parent's.
    pub path: Vec<StoredEvent>,
    /// The path is longer than the part that was read.
    pub path_is_cut: bool,
    /// Checkpoints on the nodes of the path, newest first.
    pub checkpoints: Vec<StoredEvent>,
    /// The branches that start at the node, newest first.
    pub children: Vec<ChildBranch>,
    /// What could not be read. Everything else is included.
    pub damaged: Option<String>,
}

/// One branch that starts at a node.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildBranch {
    /// The event that made the branch's first node.
    pub first_event: StoredEvent,
    /// The event that made the last node of the branch, following the newest answer at each node.
    pub newest_event: StoredEvent,
    /// The branch is longer than the part that was followed.
    pub is_cut: bool,
}

/// The node that this event made. An event that only changes a node's definition makes none.
pub fn created_node_id(event: &Event) -> Option<NodeId> {
    match event {
        Event::Guided(guided) if matches!(**guided, GuidedRunEvent::Repinned { .. }) => None,
        event => node_in_event(event).map(|node| node.id),
    }
}

impl NodeLineage {
    /// The lineage of a node in a run whose events are all loaded, oldest first.
    pub fn lineage_from_events(events: &[StoredEvent], node: NodeId, limits: LineageLimits) -> Self {
        let mut made: HashMap<NodeId, &StoredEvent> = HashMap::new();
        let mut children: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for stored in events {
            let Some(id) = created_node_id(&stored.event) else { continue };
            made.insert(id, stored);
            if let Some(attempt) = attempt_in_event(&stored.event) {
                children.entry(attempt.node).or_default().push(id);
            }
        }
        let mut lineage = Self::default();
        let mut way = Vec::new();
        let mut here = Some(node);
        while let Some(stored) = here.and_then(|id| made.get(&id)) {
            if lineage.path.len() >= limits.path {
                lineage.path_is_cut = true;
                break;
            }
            way.extend(here);
            lineage.path.push((*stored).clone());
            here = node_in_event(&stored.event).and_then(|node| node.parent);
        }
        let noted = events
            .iter()
            .rev()
            .filter(|stored| checkpointed_node_id(&stored.event).is_some_and(|id| way.contains(&id)));
        lineage.checkpoints = noted.take(limits.checkpoints).cloned().collect();
        let grown = children.get(&node).into_iter().flatten().rev().take(limits.children);
        for child in grown {
            let Some(first) = made.get(child) else { continue };
            let (mut newest, mut steps) = (*child, 0);
            while steps < limits.depth
                && let Some(next) = children.get(&newest).and_then(|next| next.last())
            {
                newest = *next;
                steps += 1;
            }
            let is_cut = children.contains_key(&newest);
            if let Some(newest) = made.get(&newest) {
                let (first, newest) = ((*first).clone(), (*newest).clone());
                lineage.children.push(ChildBranch { first_event: first, newest_event: newest, is_cut });
            }
        }
        lineage
    }
}

/// The node that this event is a checkpoint on.
pub fn checkpointed_node_id(event: &Event) -> Option<NodeId> {
    let Event::Guided(guided) = event else { return None };
    match &**guided {
        GuidedRunEvent::Checkpointed(checkpoint) => checkpoint.node,
        _ => None,
    }
}
