//! Attempts: the answers to a node, and the outcome of each.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AckId, DocumentChange, GuidedNode, NodeId, Object};

/// What a guided run records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuidedRunEvent {
    /// The first node.
    Opened { node: GuidedNode, reply: AttemptReply, documents: Vec<DocumentChange> },
    /// One answer to a node. A repeated answer finds this record and adds no other.
    Attempted(NodeAttempt),
    /// Notes on a node, or on the session if no node is named. The run does not advance.
    Checkpointed(CheckpointNotes),
    /// A node uses another definition from here on. Its id and its tokens stay valid.
    Repinned { node: GuidedNode },
}

/// One answer to a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeAttempt {
    pub node: NodeId,
    pub ack: AckId,
    /// Digest of `inputs` as canonical JSON. Together with node and ack it identifies a repeated
    /// answer.
    pub digest: String,
    pub inputs: AttemptInputs,
    pub outcome: AttemptOutcome,
    pub reply: AttemptReply,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<DocumentChange>,
}

/// The data that an agent sends with an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AttemptInputs {
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
    /// The run advanced to this node.
    Advanced(GuidedNode),
    /// The run did not advance, for this reason.
    Blocked(BlockReason),
}

/// Why an answer does not advance a run, and what would advance it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockReason {
    /// A stable name of the reason, such as `output-invalid`.
    pub code: String,
    pub message: String,
    pub needs: Vec<InputRequirement>,
}

/// One thing that is missing or wrong, and what to send instead.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct InputRequirement {
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

/// The reply that the caller got in addition to the node. A repeated answer gets the same reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptReply {
    /// The ack that the reply offered for the pending step; `None` if no step is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack: Option<AckId>,
    pub branch: BranchPosition,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<GuidedRunWarning>,
    pub stamp: ReplyRenderStamp,
}

/// The position of an answered node among the branches of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BranchPosition {
    /// The parent already had an answer.
    pub forked: bool,
    /// 0 for the first branch.
    pub index: u32,
    /// How many branches the parent had when this reply was made, including this one.
    pub siblings: u32,
}

impl BranchPosition {
    /// The first answer to a node, and the start of a run.
    pub const FIRST: Self = Self { forked: false, index: 0, siblings: 1 };
}

/// A warning that did not stop the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuidedRunWarning {
    /// A stable name, such as `definition-changed`.
    pub code: String,
    pub message: String,
    /// Ids of the steps that the warning is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// Names in the context that the warning is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
}

impl GuidedRunWarning {
    /// A warning that is not about a particular step or fact.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), steps: Vec::new(), facts: Vec::new() }
    }
}

/// What a door needs to render the same reply again, byte for byte. Only the door reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplyRenderStamp {
    /// Name of the key that signed the tokens of the reply.
    pub key: String,
    /// Version of the text of the reply.
    pub text_version: u32,
}

/// Notes without an advance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointNotes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    pub notes: String,
}
