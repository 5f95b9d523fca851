//! Where a run is taken up by somebody who has none of its tokens.

use trackway_domain::{Access, Attempt, AttemptOutcome, Event, Guided, Node, NodeId, RunId};

use super::{Guide, GuideError, store::Next};

/// The nodes of a run, as far as it takes to choose one.
#[derive(Debug, Default)]
struct Points {
    /// The newest last; each with whether something is to be done there and whether it was answered.
    nodes: Vec<Point>,
    guided: bool,
}

#[derive(Debug)]
struct Point {
    id: NodeId,
    pending: bool,
    answered: bool,
}

impl Guide {
    /// The node from which somebody goes on who has none of the run's tokens: the newest at which something
    /// is to be done and nobody has done it; where there is none, the one before the end.
    pub async fn newest(&self, access: &Access, run: RunId) -> Result<NodeId, GuideError> {
        self.row(access, run).await?;
        let mut points = Points::default();
        self.each_event(run, |stored| {
            points.apply(&stored.event);
            Next::More
        })
        .await?;
        if !points.guided {
            return Err(GuideError::NotGuided { run });
        }
        points.newest().ok_or_else(|| GuideError::Damaged {
            run,
            reason: "it has no step to go on from".to_owned(),
        })
    }
}

impl Points {
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Submitted(submission) => self.guided = submission.guided,
            Event::Guided(guided) => match &**guided {
                Guided::Opened { node, .. } => self.add(node),
                Guided::Attempted(Attempt { node: from, outcome, .. }) => {
                    if let AttemptOutcome::Advanced(node) = outcome {
                        let answered = self.nodes.iter_mut().find(|point| point.id == *from);
                        answered.into_iter().for_each(|point| point.answered = true);
                        self.add(node);
                    }
                }
                Guided::Repinned { .. } | Guided::Checkpointed(_) => {}
            },
            _ => {}
        }
    }

    fn add(&mut self, node: &Node) {
        self.nodes.push(Point { id: node.id, pending: node.pending.is_some(), answered: false });
    }

    fn newest(&self) -> Option<NodeId> {
        let pending = || self.nodes.iter().rev().filter(|point| point.pending);
        let open = pending().find(|point| !point.answered);
        open.or_else(|| pending().next()).map(|point| point.id)
    }
}
