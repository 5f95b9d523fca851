//! Commands of guided runs, which an outside agent drives from node to node.

use crate::{
    AckId, AttemptInputs, BlockReason, BranchPosition, GuidedNode, GuidedRunWarning, GuidedStepState, NodeId,
    Object, ReplyRenderStamp, RunSubmission, Seq,
};

#[derive(Debug, Clone, PartialEq)]
pub enum GuidedRunCommand {
    /// Creates the run at its first step.
    Open { submission: Box<RunSubmission>, step: Box<GuidedStepState>, stamp: ReplyRenderStamp },
    /// Creates the run that keeps a session's own notes, with the first of them.
    OpenNotes { submission: Box<RunSubmission>, notes: String },
    /// The agent answers a node.
    Answer(Box<NodeAnswer>),
    /// Notes on a node, or on the session.
    Checkpoint { node: Option<NodeId>, notes: String },
    /// Nodes switch to another definition.
    Repin { nodes: Vec<GuidedNode> },
}

/// An answer to a node, and the interpreter's result for it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeAnswer {
    pub at: AnsweredNode,
    pub ack: AckId,
    /// Digest of the inputs, which identifies a repeated answer.
    pub digest: String,
    pub inputs: AttemptInputs,
    pub consent: ConsentStatus,
    pub stamp: ReplyRenderStamp,
    pub result: Result<GuidedStepState, BlockReason>,
    /// A warning about the definition of the node.
    pub warning: Option<GuidedRunWarning>,
}

/// What the store knows about a node when an answer to it arrives.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredNode {
    pub node: GuidedNode,
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
pub enum ConsentStatus {
    /// The answer itself is the agreement: the agent has instructions to ask.
    Implied,
    /// The door can ask, and has not yet.
    NotAskedYet,
    Answered(bool),
}
