//! `workflow_start`: a run, pinned to the definition as it is now.

use rmcp::model::CallToolResult;
use trackway_ports::Identity;
use trackway_runtime::Start;

use crate::{answer, arguments::Arguments, door::Door, refusal::Refusal};

pub(crate) async fn start(
    door: &Door,
    identity: &Identity,
    mut arguments: Arguments,
) -> Result<CallToolResult, Refusal> {
    let workflow = arguments.text("workflowId").unwrap_or_default();
    if !identity.scopes.allow_run(&workflow) {
        return Err(Refusal::forbidden(&workflow));
    }
    let context = arguments.object("context").unwrap_or_default();
    let start = Start { workflow, context, seal: door.seal() };
    let position = door.guide().start(&identity.caller, start).await?;
    Ok(answer::position(door.ring(), &position))
}
