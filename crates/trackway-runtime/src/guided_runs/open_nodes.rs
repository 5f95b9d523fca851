//! The open nodes of a run: where it can continue.

use std::collections::BTreeMap;

use trackway_domain::{AttemptOutcome, Event, GuidedNode, GuidedRunEvent, NodeAttempt, NodeId};

/// The nodes of a run without an answer, folded from its events. Only these are kept: a node holds its whole
/// context, and a run may have thousands.
#[derive(Debug, Default)]
pub(super) struct OpenNodes {
    nodes: BTreeMap<NodeId, GuidedNode>,
    /// An outside agent drives the run.
    pub(super) is_guided: bool,
}

impl OpenNodes {
    pub(super) fn apply_event(&mut self, event: &Event) {
        let guided = match event {
            Event::Submitted(submission) => {
                self.is_guided = submission.guided;
                return;
            }
            Event::Guided(guided) => guided,
            _ => return,
        };
        match &**guided {
            GuidedRunEvent::Opened { node, .. } => self.add_open_node(node),
            GuidedRunEvent::Attempted(NodeAttempt {
                node: answered,
                outcome: AttemptOutcome::Advanced(node),
                ..
            }) => {
                self.nodes.remove(answered);
                self.add_open_node(node);
            }
            GuidedRunEvent::Repinned { node } => {
                if let Some(known) = self.nodes.get_mut(&node.id) {
                    known.clone_from(node);
                }
            }
            GuidedRunEvent::Attempted(_) | GuidedRunEvent::Checkpointed(_) => {}
        }
    }

    fn add_open_node(&mut self, node: &GuidedNode) {
        self.nodes.insert(node.id, node.clone());
    }

    /// The nodes with a pending step.
    pub(super) fn into_pending_nodes(self) -> impl Iterator<Item = GuidedNode> {
        self.nodes.into_values().filter(|node| node.pending.is_some())
    }
}
