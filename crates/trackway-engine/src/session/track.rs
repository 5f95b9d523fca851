//! One run of a session: the tree of its nodes, the result of each answer, and the run's status.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use trackway_domain::{
    AckId, Attempt, AttemptOutcome, Checkpoint, DocumentChange, Event, Guided, Inputs, Node,
    NodeId, RunId, Seq, State, StateName, Submission, Timestamp, Warning,
};

use crate::{IllegalTransition, Run};

/// An event that does not fit the events before it in its log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
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
pub enum RunStatus {
    Running,
    Complete,
}

impl RunStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
        }
    }
}

/// A point of a guided run.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackNode {
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

impl TrackNode {
    pub fn is_complete(&self) -> bool {
        self.step.is_none()
    }
}

/// An answer that advanced a run from one node to another.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackEdge {
    pub from: NodeId,
    pub to: NodeId,
    /// The id of the answer.
    pub ack: AckId,
    pub seq: Seq,
    pub at: Timestamp,
    pub inputs: Inputs,
    pub documents: Vec<DocumentChange>,
    pub warnings: Vec<Warning>,
}

impl TrackEdge {
    /// Its name. Exactly one answer makes a node, so the answer is named after the node.
    pub fn id(&self) -> String {
        format!("edg_{}", self.to.uuid().simple())
    }
}

/// Notes on a node, or on the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TrackNote {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
    pub(super) checkpoint: Checkpoint,
}

/// The fold of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTrack {
    pub submission: Arc<Submission>,
    pub created_at: Timestamp,
    /// When the newest event was recorded.
    pub updated_at: Timestamp,
    /// In the order in which they were made; the last one is the newest node.
    pub nodes: Vec<TrackNode>,
    /// In the order in which they were recorded.
    pub edges: Vec<TrackEdge>,
    /// Why a part of the run cannot be shown.
    pub damaged: Option<String>,
    pub(super) opening: Vec<DocumentChange>,
    pub(super) checkpoints: Vec<TrackNote>,
    places: HashMap<NodeId, usize>,
    run: Run,
}

impl RunTrack {
    /// A run that was submitted at that moment.
    pub fn begin(submission: &Submission, at: Timestamp) -> Self {
        Self {
            submission: Arc::new(submission.clone()),
            created_at: at,
            updated_at: at,
            nodes: Vec::new(),
            edges: Vec::new(),
            damaged: None,
            opening: Vec::new(),
            checkpoints: Vec::new(),
            places: HashMap::new(),
            run: Run::begin(Box::new(submission.clone()), at),
        }
    }

    /// The run in these events, up to the first that does not fit; `None` if they do not start with a
    /// submission.
    pub fn fold<'a>(events: impl IntoIterator<Item = (&'a Event, Timestamp)>) -> Option<Self> {
        let mut events = events.into_iter();
        let (Event::Submitted(submission), at) = events.next()? else { return None };
        let mut track = Self::begin(submission, at);
        for (event, at) in events {
            if let Err(misfit) = track.apply(event, at) {
                track.damage(misfit.to_string());
                break;
            }
        }
        Some(track)
    }

    /// The run in these events, some of which are lost. Events that fit are included, even after the
    /// damage; a node whose parent is lost starts its own tree.
    pub fn salvage<'a>(
        submission: &Submission,
        at: Timestamp,
        events: impl IntoIterator<Item = (&'a Event, Timestamp)>,
    ) -> Self {
        let mut track = Self::begin(submission, at);
        for (event, at) in events {
            // The state of a run with lost events is unknown, so nothing depends on it.
            let _ = track.run.apply(event);
            track.updated_at = track.updated_at.max(at);
            if let Event::Guided(guided) = event {
                match (track.check(guided), &**guided) {
                    (Ok(()), guided) => track.guide(guided, at),
                    (Err(Misfit::UnknownNode(_)), Guided::Attempted(attempt)) => {
                        if let AttemptOutcome::Advanced(node) = &attempt.outcome
                            && track.is_new(node.id).is_ok()
                        {
                            track.add(node, at);
                        }
                    }
                    (Err(Misfit::UnknownNode(_)), Guided::Checkpointed(checkpoint)) => {
                        let checkpoint = checkpoint.clone();
                        track.checkpoints.push(TrackNote { seq: track.run.seq, at, checkpoint });
                    }
                    (Err(_), _) => {}
                }
            }
        }
        track
    }

    /// Folds the next event. An event that does not fit changes nothing visible.
    pub fn apply(&mut self, event: &Event, at: Timestamp) -> Result<(), Misfit> {
        if let Event::Guided(guided) = event {
            self.check(guided)?;
        }
        self.run.apply(event)?;
        self.updated_at = at;
        if let Event::Guided(guided) = event {
            self.guide(guided, at);
        }
        Ok(())
    }

    /// The log cannot be read any further.
    pub fn damage(&mut self, reason: String) {
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

    pub fn node(&self, id: NodeId) -> Option<&TrackNode> {
        self.places.get(&id).map(|place| &self.nodes[*place])
    }

    /// A guided run is complete if its newest node is: it may have completed once and have a new branch
    /// since. Any other run, and one that was stopped, is complete when it has ended.
    pub fn status(&self) -> RunStatus {
        let over = match self.nodes.last() {
            Some(tip) => tip.is_complete() || self.is_stopped(),
            None => self.state().is_terminal(),
        };
        if over { RunStatus::Complete } else { RunStatus::Running }
    }

    /// No branch of the run can continue. An older branch may still continue after a newer one has reached
    /// its end.
    pub fn is_finished(&self) -> bool {
        match self.nodes.is_empty() {
            true => self.state().is_terminal(),
            false => self.is_stopped() || self.leaves().all(TrackNode::is_complete),
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
    pub fn leaves(&self) -> impl Iterator<Item = &TrackNode> {
        let answered: std::collections::HashSet<_> =
            self.edges.iter().map(|edge| edge.from).collect();
        self.nodes.iter().filter(move |node| !answered.contains(&node.id))
    }

    /// How many leaves there are. A run without nodes counts as one branch.
    pub fn branches(&self) -> usize {
        self.leaves().count().max(1)
    }

    /// The answers on the path from the start to that node.
    pub fn path(&self, to: NodeId) -> Vec<&TrackEdge> {
        let arriving: HashMap<NodeId, &TrackEdge> =
            self.edges.iter().map(|edge| (edge.to, edge)).collect();
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

    fn check(&self, guided: &Guided) -> Result<(), Misfit> {
        match guided {
            Guided::Opened { node, .. } => self.is_new(node.id),
            Guided::Attempted(attempt) => {
                self.is_known(attempt.node)?;
                let AttemptOutcome::Advanced(node) = &attempt.outcome else { return Ok(()) };
                self.is_new(node.id)?;
                if node.parent != Some(attempt.node) {
                    return Err(Misfit::OtherParent { node: node.id, from: attempt.node });
                }
                Ok(())
            }
            Guided::Checkpointed(checkpoint) => {
                checkpoint.node.map_or(Ok(()), |id| self.is_known(id))
            }
            Guided::Repinned { node } => self.is_known(node.id),
        }
    }

    fn is_known(&self, id: NodeId) -> Result<(), Misfit> {
        if self.places.contains_key(&id) { Ok(()) } else { Err(Misfit::UnknownNode(id)) }
    }

    fn is_new(&self, id: NodeId) -> Result<(), Misfit> {
        if self.places.contains_key(&id) { Err(Misfit::RepeatedNode(id)) } else { Ok(()) }
    }

    fn guide(&mut self, guided: &Guided, at: Timestamp) {
        match guided {
            Guided::Opened { node, documents, .. } => {
                self.opening.extend(documents.iter().cloned());
                self.add(node, at);
            }
            Guided::Attempted(attempt) => self.attempt(attempt, at),
            Guided::Checkpointed(checkpoint) => {
                let checkpoint = checkpoint.clone();
                self.checkpoints.push(TrackNote { seq: self.run.seq, at, checkpoint });
            }
            Guided::Repinned { node } => {
                if let Some(place) = self.places.get(&node.id) {
                    let known = &mut self.nodes[*place];
                    let (at, blocked) = (known.at, known.blocked);
                    *known = TrackNode { blocked, ..track_node(node, at) };
                }
            }
        }
    }

    fn attempt(&mut self, attempt: &Attempt, at: Timestamp) {
        match &attempt.outcome {
            AttemptOutcome::Advanced(node) => {
                self.edges.push(TrackEdge {
                    from: attempt.node,
                    to: node.id,
                    ack: attempt.ack,
                    seq: self.run.seq,
                    at,
                    inputs: attempt.inputs.clone(),
                    documents: attempt.documents.clone(),
                    warnings: attempt.answer.warnings.clone(),
                });
                self.add(node, at);
            }
            AttemptOutcome::Blocked(_) => {
                if let Some(place) = self.places.get(&attempt.node) {
                    self.nodes[*place].blocked += 1;
                }
            }
        }
    }

    fn add(&mut self, node: &Node, at: Timestamp) {
        self.places.insert(node.id, self.nodes.len());
        self.nodes.push(track_node(node, at));
    }
}

fn track_node(node: &Node, at: Timestamp) -> TrackNode {
    TrackNode {
        id: node.id,
        parent: node.parent,
        step: node.pending.as_ref().map(|pending| pending.step.clone()),
        title: node.pending.as_ref().map(|pending| pending.title.clone()),
        definition: node.definition.clone(),
        at,
        blocked: 0,
    }
}
