//! `workflow_start`: a run, pinned to the definition as it is now.

use rmcp::model::CallToolResult;
use trackway_ports::Identity;
use trackway_runtime::{Guide, Start};

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
    let joins = Guide::names_session(&context);
    let start = Start { workflow, context, seal: door.seal() };
    let position = door.guide().start(&identity.access(), start).await?;
    if !joins {
        return Ok(answer::position(door.ring(), &position));
    }
    // The run has begun: a recap that cannot be read must not cost the caller its tokens.
    match door.guide().recap(&identity.access(), &position).await {
        Ok(recap) => Ok(answer::look(door.ring(), &position, &recap)),
        Err(error) => {
            tracing::warn!(%error, "the recap of a session is left out");
            Ok(answer::position(door.ring(), &position))
        }
    }
}
