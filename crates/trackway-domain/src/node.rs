//! Nodes: the points of a guided run from which it can go on, and what is asked at each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{DocumentChange, NodeId, Object, Seq, Warning};

/// A point in a run from which it can go on. A run that an outside agent drives is a tree of these:
/// each answer to a node makes another one, and two answers to the same node make two branches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub id: NodeId,
    /// The node that was answered to get here; none for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    /// Hash of the definition that this node is read by.
    pub definition: String,
    /// Where the interpreter stands; only the interpreter reads it.
    pub walk: Value,
    /// The outside facts known here: those of the start, with those of every answer on the way.
    pub context: Object,
    /// Large facts that are as an earlier event of the run has them: by name, the number of that event,
    /// whose node holds the value itself. In `context` they are null.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<String, Seq>,
    /// What is to be done next; none when the workflow is complete here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
}

/// Where a guided run stands after a start or an answer, as the interpreter of its definition says.
#[derive(Debug, Clone, PartialEq)]
pub struct StepState {
    /// Where the interpreter stands; kept with the node and given back with its answer.
    pub walk: Value,
    /// The context of the step at hand; within a workflow inside another one, the inner one's.
    pub context: Object,
    /// None when the workflow is complete.
    pub pending: Option<Pending>,
    /// What this adds to the session's documents.
    pub documents: Vec<DocumentChange>,
    pub warnings: Vec<Warning>,
}

/// The step that a node waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// The step's id in the definition.
    pub step: String,
    pub title: String,
    pub prompt: String,
    /// A person is to agree before the run goes on.
    pub confirm: bool,
    /// What the answer's `output` has to be, where the step says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Expected>,
    /// Facts that conditions ahead decide by and that are not set yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<WantedFact>,
}

/// A name in the context that conditions ahead decide by and that is not set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WantedFact {
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
pub struct Expected {
    pub schema: Value,
    pub example: Value,
    pub required: bool,
}
