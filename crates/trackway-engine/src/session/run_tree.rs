//! One run of a session: the tree of its nodes, the result of each answer, and the run's status.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use trackway_domain::{
    AckId, Attempt, AttemptInputs, AttemptOutcome, Checkpoint, DocumentChange, Event, GuidedEvent, Node,
    NodeId, RunId, Seq, State, StateName, Submission, Timestamp, Warning,
};

use crate::{IllegalTransition, Run};

/// An event that does not fit the events before it in its log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunTreeError {
    #[error(transparent)]
    Illegal(#[from] IllegalTransition),
    #[error("the log names node {0}, which it never made")]
    UnknownNode(NodeId),
    #[error("the log makes node {0} twice")]
    RepeatedNode(NodeId),
    #[error("node {node} says that it follows another node than {from}")]
    OtherParent { node: NodeId, from: NodeId },
}

/// Whether the run has work left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuidedRunStatus {
    Running,
    Complete,
}

impl GuidedRunStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
        }
    }
}

/// A point of a guided run.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    pub id: NodeId,
    pub parent: Option<NodeId>,
    /// The step that waits here; `None` if the workflow is complete.
    pub step: Option<String>,
    pub title: Option<String>,
    /// Hash of the definition that the node uses.
    pub definition: String,
    pub at: Timestamp,
    /// How many answers to it were blocked.
    pub blocked: u32,
}

impl TreeNode {
    pub fn is_complete(&self) -> bool {
        self.step.is_none()
    }
}

/// An answer that advanced a run from one node to another.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeEdge {
    pub from: NodeId,
    pub to: NodeId,
    /// The id of the answer.
    pub ack: AckId,
    pub seq: Seq,
    pub at: Timestamp,
    pub inputs: AttemptInputs,
    pub documents: Vec<DocumentChange>,
    pub warnings: Vec<Warning>,
}

impl TreeEdge {
    /// Its name. Exactly one answer makes a node, so the answer is named after the node.
    pub fn id(&self) -> String {
        format!("edg_{}", self.to.uuid().simple())
    }
}

/// Notes on a node, or on the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TreeNote {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) checkpoint: Checkpoint,
}

/// The fold of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTree {
    pub submission: Arc<Submission>,
    pub created_at: Timestamp,
    /// When the newest event was recorded.
    pub updated_at: Timestamp,
    /// In the order in which they were made; the last one is the newest node.
    pub nodes: Vec<TreeNode>,
    /// In the order in which they were recorded.
    pub edges: Vec<TreeEdge>,
    /// Why a part of the run cannot be shown.
    pub damaged: Option<String>,
    pub(super) opening_changes: Vec<DocumentChange>,
    pub(super) checkpoints: Vec<TreeNote>,
    node_index: HashMap<NodeId, usize>,
    run: Run,
}

impl RunTree {
    /// A run that was submitted at that moment.
    pub fn from_submission(submission: &Submission, at: Timestamp) -> Self {
        Self {
            submission: Arc::new(submission.clone()),
            created_at: at,
            updated_at: at,
            nodes: Vec::new(),
            edges: Vec::new(),
            damaged: None,
            opening_changes: Vec::new(),
            checkpoints: Vec::new(),
            node_index: HashMap::new(),
            run: Run::from_submission(Box::new(submission.clone()), at),
        }
    }

    /// The run in these events, up to the first that does not fit; `None` if they do not start with a
    /// submission.
    pub fn fold_log<'a>(events: impl IntoIterator<Item = (&'a Event, Timestamp)>) -> Option<Self> {
        let mut events = events.into_iter();
        let (Event::Submitted(submission), at) = events.next()? else { return None };
        let mut track = Self::from_submission(submission, at);
        for (event, at) in events {
            if let Err(misfit) = track.apply(event, at) {
                track.mark_damaged(misfit.to_string());
                break;
            }
        }
        Some(track)
    }

    /// The run in these events, some of which are lost. Events that fit are included, even after the
    /// damage; a node whose parent is lost starts its own tree.
    pub fn fold_damaged_log<'a>(
        submission: &Submission,
        at: Timestamp,
        events: impl IntoIterator<Item = (&'a Event, Timestamp)>,
    ) -> Self {
        let mut track = Self::from_submission(submission, at);
        for (event, at) in events {
            // The state of a run with lost events is unknown, so nothing depends on it.
            let _ = track.run.apply(event);
            track.updated_at = track.updated_at.max(at);
            if let Event::Guided(guided) = event {
                match (track.check_guided_event(guided), &**guided) {
                    (Ok(()), guided) => track.apply_guided_event(guided, at),
                    (Err(RunTreeError::UnknownNode(_)), GuidedEvent::Attempted(attempt)) => {
                        if let AttemptOutcome::Advanced(node) = &attempt.outcome
                            && track.require_new_node(node.id).is_ok()
                        {
                            track.add_node(node, at);
                        }
                    }
                    (Err(RunTreeError::UnknownNode(_)), GuidedEvent::Checkpointed(checkpoint)) => {
                        let checkpoint = checkpoint.clone();
                        track.checkpoints.push(TreeNote { seq: track.run.seq, at, checkpoint });
                    }
                    (Err(_), _) => {}
                }
            }
        }
        track
    }

    /// Folds the next event. An event that does not fit changes nothing visible.
    pub fn apply(&mut self, event: &Event, at: Timestamp) -> Result<(), RunTreeError> {
        if let Event::Guided(guided) = event {
            self.check_guided_event(guided)?;
        }
        self.run.apply(event)?;
        self.updated_at = at;
        if let Event::Guided(guided) = event {
            self.apply_guided_event(guided, at);
        }
        Ok(())
    }

    /// The log cannot be read any further.
    pub fn mark_damaged(&mut self, reason: String) {
        self.damaged = Some(reason);
    }

    pub fn id(&self) -> RunId {
        self.submission.run
    }

    pub fn state(&self) -> StateName {
        self.run.state.name()
    }

    /// The output of the workflow, if it has ended.
    pub fn output(&self) -> Option<&Value> {
        match &self.run.state {
            State::Completed { output } => Some(output),
            _ => None,
        }
    }

    pub fn node(&self, id: NodeId) -> Option<&TreeNode> {
        self.node_index.get(&id).map(|place| &self.nodes[*place])
    }

    /// A guided run is complete if its newest node is: it may have completed once and have a new branch
    /// since. Any other run, and one that was stopped, is complete when it has ended.
    pub fn guided_status(&self) -> GuidedRunStatus {
        let over = match self.nodes.last() {
            Some(tip) => tip.is_complete() || self.is_stopped(),
            None => self.state().is_terminal(),
        };
        if over { GuidedRunStatus::Complete } else { GuidedRunStatus::Running }
    }

    /// No branch of the run can continue. An older branch may still continue after a newer one has reached
    /// its end.
    pub fn is_finished(&self) -> bool {
        match self.nodes.is_empty() {
            true => self.state().is_terminal(),
            false => self.is_stopped() || self.leaves().all(TreeNode::is_complete),
        }
    }

    /// The run was started and has no answer yet: if the reply to the start was lost, no client has its
    /// tokens.
    pub fn is_unanswered(&self) -> bool {
        match self.nodes.as_slice() {
            [first] => self.edges.is_empty() && self.checkpoints.is_empty() && first.blocked == 0,
            _ => false,
        }
    }

    /// The run was ended from outside. A completed run may still grow.
    fn is_stopped(&self) -> bool {
        let state = self.state();
        state.is_terminal() && state != StateName::Completed
    }

    /// The nodes without an answer that advanced, in the order in which they were made.
    pub fn leaves(&self) -> impl Iterator<Item = &TreeNode> {
        let answered: std::collections::HashSet<_> = self.edges.iter().map(|edge| edge.from).collect();
        self.nodes.iter().filter(move |node| !answered.contains(&node.id))
    }

    /// How many leaves there are. A run without nodes counts as one branch.
    pub fn branch_count(&self) -> usize {
        self.leaves().count().max(1)
    }

    /// The answers on the path from the start to that node.
    pub fn path_to(&self, to: NodeId) -> Vec<&TreeEdge> {
        let arriving: HashMap<NodeId, &TreeEdge> = self.edges.iter().map(|edge| (edge.to, edge)).collect();
        let mut path = Vec::new();
        let mut here = to;
        // A node is made after its parent, so this loop ends.
        while let Some(edge) = arriving.get(&here) {
            path.push(*edge);
            here = edge.from;
        }
        path.reverse();
        path
    }

    fn check_guided_event(&self, guided: &GuidedEvent) -> Result<(), RunTreeError> {
        match guided {
            GuidedEvent::Opened { node, .. } => self.require_new_node(node.id),
            GuidedEvent::Attempted(attempt) => {
                self.require_existing_node(attempt.node)?;
                let AttemptOutcome::Advanced(node) = &attempt.outcome else { return Ok(()) };
                self.require_new_node(node.id)?;
                if node.parent != Some(attempt.node) {
                    return Err(RunTreeError::OtherParent { node: node.id, from: attempt.node });
                }
                Ok(())
            }
            GuidedEvent::Checkpointed(checkpoint) => {
                checkpoint.node.map_or(Ok(()), |id| self.require_existing_node(id))
            }
            GuidedEvent::Repinned { node } => self.require_existing_node(node.id),
        }
    }

    fn require_existing_node(&self, id: NodeId) -> Result<(), RunTreeError> {
        if self.node_index.contains_key(&id) { Ok(()) } else { Err(RunTreeError::UnknownNode(id)) }
    }

    fn require_new_node(&self, id: NodeId) -> Result<(), RunTreeError> {
        if self.node_index.contains_key(&id) { Err(RunTreeError::RepeatedNode(id)) } else { Ok(()) }
    }

    fn apply_guided_event(&mut self, guided: &GuidedEvent, at: Timestamp) {
        match guided {
            GuidedEvent::Opened { node, documents, .. } => {
                self.opening_changes.extend(documents.iter().cloned());
                self.add_node(node, at);
            }
            GuidedEvent::Attempted(attempt) => self.apply_attempt(attempt, at),
            GuidedEvent::Checkpointed(checkpoint) => {
                let checkpoint = checkpoint.clone();
                self.checkpoints.push(TreeNote { seq: self.run.seq, at, checkpoint });
            }
            GuidedEvent::Repinned { node } => {
                if let Some(place) = self.node_index.get(&node.id) {
                    let known = &mut self.nodes[*place];
                    let (at, blocked) = (known.at, known.blocked);
                    *known = TreeNode { blocked, ..tree_node(node, at) };
                }
            }
        }
    }

    fn apply_attempt(&mut self, attempt: &Attempt, at: Timestamp) {
        match &attempt.outcome {
            AttemptOutcome::Advanced(node) => {
                self.edges.push(TreeEdge {
                    from: attempt.node,
                    to: node.id,
                    ack: attempt.ack,
                    seq: self.run.seq,
                    at,
                    inputs: attempt.inputs.clone(),
                    documents: attempt.documents.clone(),
                    warnings: attempt.reply.warnings.clone(),
                });
                self.add_node(node, at);
            }
            AttemptOutcome::Blocked(_) => {
                if let Some(place) = self.node_index.get(&attempt.node) {
                    self.nodes[*place].blocked += 1;
                }
            }
        }
    }

    fn add_node(&mut self, node: &Node, at: Timestamp) {
        self.node_index.insert(node.id, self.nodes.len());
        self.nodes.push(tree_node(node, at));
    }
}

fn tree_node(node: &Node, at: Timestamp) -> TreeNode {
    TreeNode {
        id: node.id,
        parent: node.parent,
        step: node.pending.as_ref().map(|pending| pending.step.clone()),
        title: node.pending.as_ref().map(|pending| pending.title.clone()),
        definition: node.definition.clone(),
        at,
        blocked: 0,
    }
}
