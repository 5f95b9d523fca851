//! The ends of a run: where it can go on.

use std::collections::BTreeMap;

use trackway_domain::{Attempt, AttemptOutcome, Event, Guided, Node, NodeId};

/// The nodes of a run that nobody has answered, folded from its events. Only these are kept: a node
/// holds its whole context, and a run may have thousands.
#[derive(Debug, Default)]
pub(super) struct Ends(BTreeMap<NodeId, Node>);

impl Ends {
    pub(super) fn apply(&mut self, event: &Event) {
        let Event::Guided(guided) = event else { return };
        match &**guided {
            Guided::Opened { node, .. } => self.add(node),
            Guided::Attempted(Attempt {
                node: answered,
                outcome: AttemptOutcome::Advanced(node),
                ..
            }) => {
                self.0.remove(answered);
                self.add(node);
            }
            Guided::Repinned { node } => {
                if let Some(known) = self.0.get_mut(&node.id) {
                    known.clone_from(node);
                }
            }
            Guided::Attempted(_) | Guided::Checkpointed(_) => {}
        }
    }

    fn add(&mut self, node: &Node) {
        self.0.insert(node.id, node.clone());
    }

    /// Those where something is to be done.
    pub(super) fn unfinished(self) -> impl Iterator<Item = Node> {
        self.0.into_values().filter(|node| node.pending.is_some())
    }
}
