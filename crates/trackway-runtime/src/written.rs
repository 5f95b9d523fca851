//! Written workflows as programs: the engine drives a definition.

use std::sync::Arc;

use trackway_domain::WorkflowRef;

use crate::{Program, Tools};

/// The program of a definition that the store keeps.
pub(crate) fn revive(
    workflow: &WorkflowRef,
    body: &str,
    tools: &Arc<Tools>,
) -> Option<Arc<dyn Program>> {
    let _ = (workflow, body, tools);
    todo!()
}
