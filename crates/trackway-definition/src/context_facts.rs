//! What the steps of a definition read from the context and set in it, found before they run.
//!
//! It tells a caller early what will be needed. Whether something is really missing is decided when a step is
//! reached.

mod item_reads;
mod missing_facts;

use crate::{
    context_error::top_level_name,
    model::{Step, StepKind},
};

pub(crate) use self::{item_reads::loop_item_shape, missing_facts::missing_facts_ahead};

/// Whether the steps set all of these names, each a path joined by dots.
pub(crate) fn steps_set_all(steps: &[Step], names: &[String]) -> bool {
    names.iter().all(|name| steps_set_name(steps, top_level_name(name)))
}

/// Whether one of the steps saves something under this name in their shared context.
fn steps_set_name(steps: &[Step], name: &str) -> bool {
    steps.iter().any(|step| {
        let own = step.save.as_deref() == Some(name) || step.set.contains_key(name);
        own || steps_sharing_context(step).iter().any(|steps| steps_set_name(steps, name))
    })
}

/// The lists of steps inside a step that share its context. Items of a map do not change it, and a nested
/// workflow may have its own.
fn steps_sharing_context(step: &Step) -> Vec<&[Step]> {
    match &step.kind {
        StepKind::Map(_) => Vec::new(),
        StepKind::Nested(nested) if nested.context.is_some() => Vec::new(),
        kind => kind.inner_steps(),
    }
}
