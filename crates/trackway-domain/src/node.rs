//! Nodes: the points of a guided run from which it can continue, and the step that waits at each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{DocumentChange, GuidedRunWarning, NodeId, Object, Seq};

/// A point in a run from which it can continue. A run that an outside agent drives is a tree of nodes:
/// each answer to a node makes another node, and two answers to the same node make two branches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuidedNode {
    pub id: NodeId,
    /// The node whose answer made this one; `None` for the first node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    /// Hash of the definition that this node uses.
    pub definition: String,
    /// The state of the interpreter; only the interpreter reads it.
    pub position: Value,
    /// The outside facts known here: those of the start and of every answer on the path.
    pub context: Object,
    /// Large facts that an earlier event of the run already holds. Each name maps to the number of that
    /// event, whose node has the value. In `context` they are null.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub context_refs: BTreeMap<String, Seq>,
    /// The next step; `None` if the workflow is complete here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingStep>,
}

/// The state of a guided run after a start or an answer, as its interpreter reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct GuidedStepState {
    /// The state of the interpreter. It is stored with the node and passed back with its answer.
    pub position: Value,
    /// The context of the current step. Inside a nested workflow, it is the context of the nested one.
    pub context: Object,
    /// `None` if the workflow is complete.
    pub pending: Option<PendingStep>,
    /// What this adds to the session's documents.
    pub documents: Vec<DocumentChange>,
    pub warnings: Vec<GuidedRunWarning>,
}

/// The step that a node waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingStep {
    /// The step's id in the definition.
    pub step: String,
    pub title: String,
    pub prompt: String,
    /// A person must agree before the run continues.
    pub confirm: bool,
    /// What the answer's `output` must be, if the step defines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ExpectedOutput>,
    /// Facts that later conditions use and that are not set yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<MissingFact>,
}

/// A name in the context that later conditions use and that is not set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingFact {
    /// A path of names joined by dots.
    pub name: String,
    /// Values that the conditions compare it with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// Ids of the steps with those conditions.
    pub steps: Vec<String>,
}

/// The form of an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedOutput {
    pub schema: Value,
    pub example: Value,
    pub required: bool,
}
