//! Commands of guided runs, which an outside agent drives from node to node.

use crate::{
    AckId, Block, Branch, Inputs, Node, NodeId, Object, Seal, Seq, StepState, Submission, Warning,
};

#[derive(Debug, Clone, PartialEq)]
pub enum GuidedCommand {
    /// Creates the run at its first step.
    Open { submission: Box<Submission>, step: Box<StepState>, seal: Seal },
    /// Creates the run that keeps a session's own notes, with the first of them.
    OpenNotes { submission: Box<Submission>, notes: String },
    /// The agent answers a node.
    Answer(Box<NodeAnswer>),
    /// Notes on a node, or on the session.
    Checkpoint { node: Option<NodeId>, notes: String },
    /// Nodes are read by another definition.
    Repin { nodes: Vec<Node> },
}

/// An answer to a node, and what the interpreter made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeAnswer {
    pub at: AnsweredNode,
    pub ack: AckId,
    /// Of the inputs, so that the same answer again is recognised.
    pub digest: String,
    pub inputs: Inputs,
    pub consent: Consent,
    pub seal: Seal,
    pub result: Result<StepState, Block>,
    /// About the definition that the node is read by.
    pub warning: Option<Warning>,
}

/// What is known of a node when an answer to it comes in.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredNode {
    pub node: Node,
    /// Its whole context, also what the node only refers to.
    pub context: Object,
    /// Number of the event that made it, or read it by another definition last.
    pub seq: Seq,
    /// How many branches have grown from it.
    pub branches: u32,
    /// How many answers to it were blocked.
    pub blocked: u32,
    /// Which branch it was when it was made.
    pub branch: Branch,
}

/// How a person's agreement is had where a step wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The answer itself is the agreement: the agent was told to ask.
    Implied,
    /// The door can ask, and has not yet.
    ToBeAsked,
    Given(bool),
}
