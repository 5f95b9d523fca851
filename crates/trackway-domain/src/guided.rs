//! Commands of guided runs, which an outside agent drives from node to node.

use crate::{
    AckId, AttemptInputs, BlockReason, BranchPosition, Node, NodeId, Object, RenderStamp, Seq, StepState,
    Submission, Warning,
};

#[derive(Debug, Clone, PartialEq)]
pub enum GuidedCommand {
    /// Creates the run at its first step.
    Open { submission: Box<Submission>, step: Box<StepState>, stamp: RenderStamp },
    /// Creates the run that keeps a session's own notes, with the first of them.
    OpenNotes { submission: Box<Submission>, notes: String },
    /// The agent answers a node.
    Answer(Box<NodeAnswer>),
    /// Notes on a node, or on the session.
    Checkpoint { node: Option<NodeId>, notes: String },
    /// Nodes switch to another definition.
    Repin { nodes: Vec<Node> },
}

/// An answer to a node, and the interpreter's result for it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeAnswer {
    pub at: AnsweredNode,
    pub ack: AckId,
    /// Digest of the inputs, which identifies a repeated answer.
    pub digest: String,
    pub inputs: AttemptInputs,
    pub consent: Consent,
    pub stamp: RenderStamp,
    pub result: Result<StepState, BlockReason>,
    /// A warning about the definition of the node.
    pub warning: Option<Warning>,
}

/// What the store knows about a node when an answer to it arrives.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredNode {
    pub node: Node,
    /// Its whole context, including the facts that the node only refers to.
    pub context: Object,
    /// Number of the event that made the node, or that last changed its definition.
    pub seq: Seq,
    /// How many branches start at it.
    pub branches: u32,
    /// How many answers to it were blocked.
    pub blocked: u32,
    /// Its branch position when it was made.
    pub branch: BranchPosition,
}

/// How the engine gets a person's agreement if a step needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The answer itself is the agreement: the agent has instructions to ask.
    Implied,
    /// The door can ask, and has not yet.
    NotAskedYet,
    Answered(bool),
}
