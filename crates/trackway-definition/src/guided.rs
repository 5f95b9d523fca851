//! The caller drives: what an outside agent is asked at each node, and where its answer leads.
//!
//! A node keeps the [`GuidedStepState`]'s walk and context, and passes both back with the next answer. If
//! an answer lacks something, the result is a [`BlockReason`]: nothing has moved, and the same walk is
//! answered again.

mod pending_step;
mod repin;

use serde_json::Value;
use trackway_domain::{AttemptInputs, BlockReason, DocumentChange, DocumentKind, GuidedStepState, Object};

pub(crate) use self::pending_step::render_prompt_text as prompt_text;
pub use self::repin::repin_to_definition;
use crate::{
    document_changes,
    model::{Definition, Step},
    output_check, schema_validation, step_prompt,
    walk::{WalkDriver, WalkPosition, WalkRoot, Walker, lost_position_block},
};

/// The first step of a new run.
pub fn begin_guided_run(definition: &Definition, context: &Object) -> Result<GuidedStepState, BlockReason> {
    check_run_input(definition, context)?;
    let mut walker =
        Walker::begin_walk(definition, WalkDriver::Caller, WalkRoot::default(), context.clone())?;
    let step = walker.walk_to_next_step()?;
    build_step_state(walker, step, Vec::new())
}

/// The step after an answer.
pub fn advance_guided_run(
    definition: &Definition,
    position: &Value,
    context: &Object,
    inputs: &AttemptInputs,
) -> Result<GuidedStepState, BlockReason> {
    let mut walker = resume_guided_walker(definition, position, context)?;
    let step = walker.current_step().ok_or_else(run_complete_block_reason)?;
    let prompt = step_prompt::prompt_of_step(step)
        .ok_or_else(|| lost_position_block("the position is not at a step"))?;
    walker.merge_sent_facts(&inputs.context);
    output_check::check_step_answer(&prompt, inputs, walker.current_context())?;
    let documents = document_changes::document_changes(&prompt, &step.id, inputs);
    let output = inputs.output.clone().unwrap_or_default();
    walker.apply_loop_decisions(&output);
    walker
        .finish_step(step, step_prompt::extract_step_result(step, output))
        .map_err(|block| step_prompt::point_block_at_output(step, block))?;
    let next = walker.walk_to_next_step()?;
    build_step_state(walker, next, documents)
}

/// Whether a run can begin with a context.
pub(crate) fn check_run_input(definition: &Definition, context: &Object) -> Result<(), BlockReason> {
    match &definition.input {
        Some(schema) => schema_validation::check_context_against_schema(schema, context),
        None => Ok(()),
    }
}

/// Resumes the walk of a node.
fn resume_guided_walker<'d>(
    definition: &'d Definition,
    position: &Value,
    context: &Object,
) -> Result<Walker<'d>, BlockReason> {
    let position = decode_walk(position)?;
    Walker::resume_walk(definition, WalkDriver::Caller, position, context.clone())
}

fn decode_walk(position: &Value) -> Result<WalkPosition, BlockReason> {
    serde::Deserialize::deserialize(position)
        .map_err(|error| lost_position_block(format!("the position cannot be read: {error}")))
}

/// What is stored when a walk has stopped at a step, or at the end.
fn build_step_state(
    mut walker: Walker<'_>,
    step: Option<&Step>,
    mut documents: Vec<DocumentChange>,
) -> Result<GuidedStepState, BlockReason> {
    let pending = step.map(|step| pending_step::build_pending_step(&mut walker, step)).transpose()?;
    let stopped = walker.into_stopped();
    documents.extend(stopped.emitted.into_iter().map(|emitted| DocumentChange {
        name: emitted.artifact,
        // The same artifact may be emitted in every round of a loop, and none may be lost.
        kind: DocumentKind::Log,
        key: None,
        value: emitted.value,
    }));
    let position = serde_json::to_value(&stopped.position)
        .map_err(|error| lost_position_block(format!("the position cannot be written: {error}")))?;
    let warnings = stopped.warnings;
    Ok(GuidedStepState { position, context: stopped.context, pending, documents, warnings })
}

fn run_complete_block_reason() -> BlockReason {
    BlockReason {
        code: "run-complete".to_owned(),
        message: "the workflow is complete here, and nothing is left to answer".to_owned(),
        needs: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
