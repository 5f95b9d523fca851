//! Finds where a caller without a token continues a run.

use trackway_domain::{
    Access, AttemptOutcome, Event, GuidedNode, GuidedRunEvent, NodeAttempt, NodeId, RunId,
};

use super::{GuidedRunError, GuidedRuns, run_and_definition_loading::EventVisitControl};

/// The nodes of a run, with what is needed to choose one.
#[derive(Debug, Default)]
struct NodeStatusHistory {
    /// The newest last; each with whether a step is pending there and whether it was answered.
    nodes: Vec<NodeStatus>,
    is_guided: bool,
}

#[derive(Debug)]
struct NodeStatus {
    id: NodeId,
    is_pending: bool,
    is_answered: bool,
}

impl GuidedRuns {
    /// The node where a caller without a token continues: the newest one with a pending step and no answer;
    /// if there is none, the one before the end.
    pub async fn newest_open_node(&self, access: &Access, run: RunId) -> Result<NodeId, GuidedRunError> {
        self.load_accessible_run_row(access, run).await?;
        let mut points = NodeStatusHistory::default();
        self.for_each_run_event(run, |stored| {
            points.apply_event(&stored.event);
            EventVisitControl::Continue
        })
        .await?;
        if !points.is_guided {
            return Err(GuidedRunError::NotGuided { run });
        }
        points
            .find_newest_open_node()
            .ok_or_else(|| GuidedRunError::Damaged { run, reason: "it has no step to go on from".to_owned() })
    }
}

impl NodeStatusHistory {
    fn apply_event(&mut self, event: &Event) {
        match event {
            Event::Submitted(submission) => self.is_guided = submission.guided,
            Event::Guided(guided) => match &**guided {
                GuidedRunEvent::Opened { node, .. } => self.add_node_status(node),
                GuidedRunEvent::Attempted(NodeAttempt { node: from, outcome, .. }) => {
                    if let AttemptOutcome::Advanced(node) = outcome {
                        let answered = self.nodes.iter_mut().find(|point| point.id == *from);
                        answered.into_iter().for_each(|point| point.is_answered = true);
                        self.add_node_status(node);
                    }
                }
                GuidedRunEvent::Repinned { .. } | GuidedRunEvent::Checkpointed(_) => {}
            },
            _ => {}
        }
    }

    fn add_node_status(&mut self, node: &GuidedNode) {
        self.nodes.push(NodeStatus { id: node.id, is_pending: node.pending.is_some(), is_answered: false });
    }

    fn find_newest_open_node(&self) -> Option<NodeId> {
        let pending = || self.nodes.iter().rev().filter(|point| point.is_pending);
        let open = pending().find(|point| !point.is_answered);
        open.or_else(|| pending().next()).map(|point| point.id)
    }
}
