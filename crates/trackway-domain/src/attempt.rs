//! Attempts: the answers to a node, and what each led to.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AckId, DocumentChange, Node, NodeId, Object};

/// What a guided run records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guided {
    /// The first node.
    Opened { node: Node, answer: Answer, documents: Vec<DocumentChange> },
    /// One answer to a node. The same answer again finds this record instead of making another.
    Attempted(Attempt),
    /// Notes on a node, or on the session where no node is named. Nothing advances.
    Checkpointed(Checkpoint),
    /// A node is read by another definition from here on. Its id, and so its tokens, stay.
    Repinned { node: Node },
}

/// One answer to a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    pub node: NodeId,
    pub ack: AckId,
    /// Digest of `inputs` as canonical JSON: with node and ack, what a repetition is recognised by.
    pub digest: String,
    pub inputs: Inputs,
    pub outcome: AttemptOutcome,
    pub answer: Answer,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<DocumentChange>,
}

/// What an agent brings with an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Inputs {
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub context: Object,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every attempt advances, and they are held one at a time"
)]
pub enum AttemptOutcome {
    /// The run went on to this node.
    Advanced(Node),
    /// It did not, and why.
    Blocked(Block),
}

/// Why an answer does not advance a run, and what would.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// A stable name of the reason, such as `output-invalid`.
    pub code: String,
    pub message: String,
    pub needs: Vec<Need>,
}

/// One thing that is missing or wrong, and what to put in its place.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Need {
    /// JSON pointer into the call's arguments: `/output/review/title`, `/context/items`.
    pub pointer: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<Value>,
}

/// What the caller was told beside the node, so that a repetition is told the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The ack that the answer offered for the pending step; none where nothing is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack: Option<AckId>,
    pub branch: Branch,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    pub seal: Seal,
}

/// Where an answered node stands among the branches that its parent has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Branch {
    /// The parent had been answered before.
    pub forked: bool,
    /// 0 for the first branch.
    pub index: u32,
    /// How many branches the parent had when this was said, this one included.
    pub siblings: u32,
}

impl Branch {
    /// The first answer to a node, and the start of a run.
    pub const FIRST: Self = Self { forked: false, index: 0, siblings: 1 };
}

/// Something worth knowing that stopped nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable name, such as `definition-changed`.
    pub code: String,
    pub message: String,
    /// Ids of the steps that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// Names in the context that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
}

impl Warning {
    /// A warning about no step and no fact in particular.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), steps: Vec::new(), facts: Vec::new() }
    }
}

/// What a door needs to write the same answer again, byte for byte. Only the door reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seal {
    /// Name of the key that the answer's tokens were signed with.
    pub key: String,
    /// Version of the text that the answer was written in.
    pub text: u32,
}

/// Notes without an advance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    pub notes: String,
}
