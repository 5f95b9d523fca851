//! The caller drives: what an outside agent is asked at each node, and where its answer leads.
//!
//! A node keeps the [`StepState`]'s walk and context, and hands both back with the next answer. What an
//! answer lacks is a [`Block`]: nothing has moved then, and the same walk is answered again.

mod pending;
mod repin;

use serde_json::Value;
use trackway_domain::{Block, DocumentChange, DocumentKind, Inputs, Object, StepState};

pub(crate) use self::pending::text as prompt_text;
pub use self::repin::repin;
use crate::{
    asked, contract, documents,
    model::{Definition, Step},
    schema,
    walk::{Mode, Root, Walk, Walker, lost},
};

/// The first step of a new run.
pub fn open(definition: &Definition, context: &Object) -> Result<StepState, Block> {
    check_input(definition, context)?;
    let mut walker = Walker::begin(definition, Mode::Caller, Root::default(), context.clone())?;
    let step = walker.go()?;
    standing(walker, step, Vec::new())
}

/// The step after an answer.
pub fn advance(
    definition: &Definition,
    walk: &Value,
    context: &Object,
    inputs: &Inputs,
) -> Result<StepState, Block> {
    let mut walker = resume(definition, walk, context)?;
    let step = walker.here().ok_or_else(complete)?;
    let prompt = asked::prompt(step).ok_or_else(|| lost("the place is not at a step"))?;
    walker.learn(&inputs.context);
    contract::check(&prompt, inputs, walker.context())?;
    let documents = documents::changes(&prompt, &step.id, inputs);
    let output = inputs.output.clone().unwrap_or_default();
    walker.heed(&output);
    walker.finish(step, asked::result(step, output)).map_err(|block| asked::blame(step, block))?;
    let next = walker.go()?;
    standing(walker, next, documents)
}

/// Whether a run can begin with a context.
pub(crate) fn check_input(definition: &Definition, context: &Object) -> Result<(), Block> {
    match &definition.input {
        Some(schema) => schema::check_context(schema, context),
        None => Ok(()),
    }
}

/// The walk of a node, under way again.
fn resume<'d>(
    definition: &'d Definition,
    walk: &Value,
    context: &Object,
) -> Result<Walker<'d>, Block> {
    let walk = read(walk)?;
    Walker::resume(definition, Mode::Caller, walk, context.clone())
}

fn read(walk: &Value) -> Result<Walk, Block> {
    serde::Deserialize::deserialize(walk)
        .map_err(|error| lost(format!("the place cannot be read: {error}")))
}

/// What is kept where a walk has stopped at a step, or at the end.
fn standing(
    mut walker: Walker<'_>,
    step: Option<&Step>,
    mut documents: Vec<DocumentChange>,
) -> Result<StepState, Block> {
    let pending = step.map(|step| pending::pending(&mut walker, step)).transpose()?;
    let stopped = walker.stop();
    documents.extend(stopped.emitted.into_iter().map(|emitted| DocumentChange {
        name: emitted.artifact,
        // The same artifact may be emitted in every round of a loop: none of them is lost.
        kind: DocumentKind::Log,
        key: None,
        value: emitted.value,
    }));
    let walk = serde_json::to_value(&stopped.walk)
        .map_err(|error| lost(format!("the place cannot be written: {error}")))?;
    let warnings = stopped.warnings;
    Ok(StepState { walk, context: stopped.context, pending, documents, warnings })
}

fn complete() -> Block {
    Block {
        code: "run-complete".to_owned(),
        message: "the workflow is complete here, and nothing is left to answer".to_owned(),
        needs: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
