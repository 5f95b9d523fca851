//! The caller drives: what an outside agent is asked at each node, and where its answer leads.

use serde_json::Value;
use trackway_domain::{Block, DocumentChange, Inputs, Object, Pending, Warning};

use crate::model::Definition;

/// Where a run stands after a start or an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Where the interpreter stands; kept with the node and given back with its answer.
    pub walk: Value,
    pub context: Object,
    /// None when the workflow is complete.
    pub pending: Option<Pending>,
    /// What this adds to the session's documents.
    pub documents: Vec<DocumentChange>,
    pub warnings: Vec<Warning>,
}

/// The first step of a new run.
pub fn open(definition: &Definition, context: &Object) -> Result<Standing, Block> {
    let _ = (definition, context);
    todo!("the interpreter")
}

/// The step after an answer.
pub fn advance(
    definition: &Definition,
    walk: &Value,
    context: &Object,
    inputs: &Inputs,
) -> Result<Standing, Block> {
    let _ = (definition, walk, context, inputs);
    todo!("the interpreter")
}

/// The same place in another definition: the pending step is found again by its id.
pub fn repin(
    from: &Definition,
    to: &Definition,
    walk: &Value,
    context: &Object,
) -> Result<Standing, Block> {
    let _ = (from, to, walk, context);
    todo!("the interpreter")
}
