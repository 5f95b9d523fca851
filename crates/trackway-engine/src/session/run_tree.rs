//! One run of a session: the tree of its nodes, the result of each answer, and the run's status.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use trackway_domain::{
    AckId, AttemptInputs, AttemptOutcome, CheckpointNotes, DocumentChange, Event, GuidedNode, GuidedRunEvent,
    GuidedRunWarning, NodeAttempt, NodeId, RunId, RunSubmission, Seq, State, StateName, Timestamp,
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
pub struct RunTreeNode {
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

impl RunTreeNode {
    pub fn is_workflow_complete(&self) -> bool {
        self.step.is_none()
    }
}

/// An answer that advanced a run from one node to another.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTreeEdge {
    pub from: NodeId,
    pub to: NodeId,
    /// The id of the answer.
    pub ack: AckId,
    pub seq: Seq,
    pub at: Timestamp,
    pub inputs: AttemptInputs,
    pub documents: Vec<DocumentChange>,
    pub warnings: Vec<GuidedRunWarning>,
}

impl RunTreeEdge {
    /// Its name. Exactly one answer makes a node, so the answer is named after the node.
    pub fn edge_id(&self) -> String {
        format!("edg_{}", self.to.uuid().simple())
    }
}

/// Notes on a node, or on the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunTreeNote {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) checkpoint: CheckpointNotes,
}

/// The fold of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTree {
    pub submission: Arc<RunSubmission>,
    pub created_at: Timestamp,
    /// When the newest event was recorded.
    pub updated_at: Timestamp,
    /// In the order in which they were made; the last one is the newest node.
    pub nodes: Vec<RunTreeNode>,
    /// In the order in which they were recorded.
    pub edges: Vec<RunTreeEdge>,
    /// Why a part of the run cannot be shown.
    pub damaged: Option<String>,
    pub(super) opening_changes: Vec<DocumentChange>,
    pub(super) checkpoints: Vec<RunTreeNote>,
    node_index: HashMap<NodeId, usize>,
    run: Run,
}

impl RunTree {
    /// A run that was submitted at that moment.
    pub fn from_submission(submission: &RunSubmission, recorded_at: Timestamp) -> Self {
        Self {
            submission: Arc::new(submission.clone()),
            created_at: recorded_at,
            updated_at: recorded_at,
            nodes: Vec::new(),
            edges: Vec::new(),
            damaged: None,
            opening_changes: Vec::new(),
            checkpoints: Vec::new(),
            node_index: HashMap::new(),
            run: Run::from_submission(Box::new(submission.clone()), recorded_at),
        }
    }

    /// The run in these events, up to the first that does not fit; `None` if they do not start with a
    /// submission.
    pub fn fold_log<'a>(events: impl IntoIterator<Item = (&'a Event, Timestamp)>) -> Option<Self> {
        let mut events = events.into_iter();
        let (Event::Submitted(submission), at) = events.next()? else { return None };
        let mut track = Self::from_submission(submission, at);
        for (event, at) in events {
            if let Err(misfit) = track.apply_event(event, at) {
                track.mark_log_damaged(misfit.to_string());
                break;
            }
        }
        Some(track)
    }

    /// The run in these events, some of which are lost. Events that fit are included, even after the
    /// damage; a node whose parent is lost starts its own tree.
    pub fn fold_damaged_log<'a>(
        submission: &RunSubmission,
        at: Timestamp,
        events: impl IntoIterator<Item = (&'a Event, Timestamp)>,
    ) -> Self {
        let mut track = Self::from_submission(submission, at);
        for (event, at) in events {
            // The state of a run with lost events is unknown, so nothing depends on it.
            let _ = track.run.apply_event(event);
            track.updated_at = track.updated_at.max(at);
            if let Event::Guided(guided) = event {
                match (track.check_guided_event(guided), &**guided) {
                    (Ok(()), guided) => track.apply_guided_event(guided, at),
                    (Err(RunTreeError::UnknownNode(_)), GuidedRunEvent::Attempted(attempt)) => {
                        if let AttemptOutcome::Advanced(node) = &attempt.outcome
                            && track.require_new_node(node.id).is_ok()
                        {
                            track.add_node(node, at);
                        }
                    }
                    (Err(RunTreeError::UnknownNode(_)), GuidedRunEvent::Checkpointed(checkpoint)) => {
                        let checkpoint = checkpoint.clone();
                        track.checkpoints.push(RunTreeNote { seq: track.run.seq, at, checkpoint });
                    }
                    (Err(_), _) => {}
                }
            }
        }
        track
    }

    /// Folds the next event. An event that does not fit changes nothing visible.
    pub fn apply_event(&mut self, event: &Event, recorded_at: Timestamp) -> Result<(), RunTreeError> {
        if let Event::Guided(guided) = event {
            self.check_guided_event(guided)?;
        }
        self.run.apply_event(event)?;
        self.updated_at = recorded_at;
        if let Event::Guided(guided) = event {
            self.apply_guided_event(guided, recorded_at);
        }
        Ok(())
    }

    /// The log cannot be read any further.
    pub fn mark_log_damaged(&mut self, reason: String) {
        self.damaged = Some(reason);
    }

    pub fn id(&self) -> RunId {
        self.submission.run
    }

    pub fn state(&self) -> StateName {
        self.run.state.name()
    }

    /// The output of the workflow, if it has ended.
    pub fn workflow_output(&self) -> Option<&Value> {
        match &self.run.state {
            State::Completed { output } => Some(output),
            _ => None,
        }
    }

    pub fn find_node(&self, id: NodeId) -> Option<&RunTreeNode> {
        self.node_index.get(&id).map(|place| &self.nodes[*place])
    }

    /// A guided run is complete if its newest node is: it may have completed once and have a new branch
    /// since. Any other run, and one that was stopped, is complete when it has ended.
    pub fn guided_status(&self) -> GuidedRunStatus {
        let over = match self.nodes.last() {
            Some(tip) => tip.is_workflow_complete() || self.is_ended_from_outside(),
            None => self.state().is_terminal(),
        };
        if over { GuidedRunStatus::Complete } else { GuidedRunStatus::Running }
    }

    /// No branch of the run can continue. An older branch may still continue after a newer one has reached
    /// its end.
    pub fn has_no_open_branch(&self) -> bool {
        match self.nodes.is_empty() {
            true => self.state().is_terminal(),
            false => self.is_ended_from_outside() || self.leaf_nodes().all(RunTreeNode::is_workflow_complete),
        }
    }

    /// The run was started and has no answer yet: if the reply to the start was lost, no client has its
    /// tokens.
    pub fn has_no_answer_yet(&self) -> bool {
        match self.nodes.as_slice() {
            [first] => self.edges.is_empty() && self.checkpoints.is_empty() && first.blocked == 0,
            _ => false,
        }
    }

    /// The run was ended from outside. A completed run may still grow.
    fn is_ended_from_outside(&self) -> bool {
        let state = self.state();
        state.is_terminal() && state != StateName::Completed
    }

    /// The nodes without an answer that advanced, in the order in which they were made.
    pub fn leaf_nodes(&self) -> impl Iterator<Item = &RunTreeNode> {
        let answered: std::collections::HashSet<_> = self.edges.iter().map(|edge| edge.from).collect();
        self.nodes.iter().filter(move |node| !answered.contains(&node.id))
    }

    /// How many leaves there are. A run without nodes counts as one branch.
    pub fn branch_count(&self) -> usize {
        self.leaf_nodes().count().max(1)
    }

    /// The answers on the path from the start to that node.
    pub fn answers_on_path_to(&self, node_id: NodeId) -> Vec<&RunTreeEdge> {
        let arriving: HashMap<NodeId, &RunTreeEdge> = self.edges.iter().map(|edge| (edge.to, edge)).collect();
        let mut path = Vec::new();
        let mut here = node_id;
        // A node is made after its parent, so this loop ends.
        while let Some(edge) = arriving.get(&here) {
            path.push(*edge);
            here = edge.from;
        }
        path.reverse();
        path
    }

    fn check_guided_event(&self, guided: &GuidedRunEvent) -> Result<(), RunTreeError> {
        match guided {
            GuidedRunEvent::Opened { node, .. } => self.require_new_node(node.id),
            GuidedRunEvent::Attempted(attempt) => {
                self.require_existing_node(attempt.node)?;
                let AttemptOutcome::Advanced(node) = &attempt.outcome else { return Ok(()) };
                self.require_new_node(node.id)?;
                if node.parent != Some(attempt.node) {
                    return Err(RunTreeError::OtherParent { node: node.id, from: attempt.node });
                }
                Ok(())
            }
            GuidedRunEvent::Checkpointed(checkpoint) => {
                checkpoint.node.map_or(Ok(()), |id| self.require_existing_node(id))
            }
            GuidedRunEvent::Repinned { node } => self.require_existing_node(node.id),
        }
    }

    fn require_existing_node(&self, id: NodeId) -> Result<(), RunTreeError> {
        if self.node_index.contains_key(&id) { Ok(()) } else { Err(RunTreeError::UnknownNode(id)) }
    }

    fn require_new_node(&self, id: NodeId) -> Result<(), RunTreeError> {
        if self.node_index.contains_key(&id) { Err(RunTreeError::RepeatedNode(id)) } else { Ok(()) }
    }

    fn apply_guided_event(&mut self, guided: &GuidedRunEvent, recorded_at: Timestamp) {
        match guided {
            GuidedRunEvent::Opened { node, documents, .. } => {
                self.opening_changes.extend(documents.iter().cloned());
                self.add_node(node, recorded_at);
            }
            GuidedRunEvent::Attempted(attempt) => self.apply_attempt(attempt, recorded_at),
            GuidedRunEvent::Checkpointed(checkpoint) => {
                let checkpoint = checkpoint.clone();
                self.checkpoints.push(RunTreeNote { seq: self.run.seq, at: recorded_at, checkpoint });
            }
            GuidedRunEvent::Repinned { node } => {
                if let Some(place) = self.node_index.get(&node.id) {
                    let known = &mut self.nodes[*place];
                    let (at, blocked) = (known.at, known.blocked);
                    *known = RunTreeNode { blocked, ..new_tree_node(node, at) };
                }
            }
        }
    }

    fn apply_attempt(&mut self, attempt: &NodeAttempt, recorded_at: Timestamp) {
        match &attempt.outcome {
            AttemptOutcome::Advanced(node) => {
                self.edges.push(RunTreeEdge {
                    from: attempt.node,
                    to: node.id,
                    ack: attempt.ack,
                    seq: self.run.seq,
                    at: recorded_at,
                    inputs: attempt.inputs.clone(),
                    documents: attempt.documents.clone(),
                    warnings: attempt.reply.warnings.clone(),
                });
                self.add_node(node, recorded_at);
            }
            AttemptOutcome::Blocked(_) => {
                if let Some(place) = self.node_index.get(&attempt.node) {
                    self.nodes[*place].blocked += 1;
                }
            }
        }
    }

    fn add_node(&mut self, node: &GuidedNode, recorded_at: Timestamp) {
        self.node_index.insert(node.id, self.nodes.len());
        self.nodes.push(new_tree_node(node, recorded_at));
    }
}

fn new_tree_node(node: &GuidedNode, recorded_at: Timestamp) -> RunTreeNode {
    RunTreeNode {
        id: node.id,
        parent: node.parent,
        step: node.pending.as_ref().map(|pending| pending.step.clone()),
        title: node.pending.as_ref().map(|pending| pending.title.clone()),
        definition: node.definition.clone(),
        at: recorded_at,
        blocked: 0,
    }
}
