//! What the steps of a definition read of the context and what they set in it, seen before they run.
//!
//! It is for telling a caller early what will be wanted. Whether something is really missing is found out
//! when a step is reached.

mod item_reads;
mod missing_facts;

use crate::{
    context_error::root_name,
    model::{Step, StepKind},
};

pub(crate) use self::{item_reads::item_shape, missing_facts::missing_facts_ahead};

/// Whether the steps set all of these names, each a path joined by dots.
pub(crate) fn steps_set_all(steps: &[Step], names: &[String]) -> bool {
    names.iter().all(|name| steps_set_name(steps, root_name(name)))
}

/// Whether one of the steps keeps something under a name of the context that they share.
fn steps_set_name(steps: &[Step], name: &str) -> bool {
    steps.iter().any(|step| {
        let own = step.save.as_deref() == Some(name) || step.set.contains_key(name);
        own || steps_sharing_context(step).iter().any(|steps| steps_set_name(steps, name))
    })
}

/// The lists of steps inside of a step that have the same context as it. Items of a map leave nothing in
/// it, and a workflow may have one of its own.
fn steps_sharing_context(step: &Step) -> Vec<&[Step]> {
    match &step.kind {
        StepKind::Map(_) => Vec::new(),
        StepKind::Nested(nested) if nested.context.is_some() => Vec::new(),
        kind => kind.inner_steps(),
    }
}
