//! `workflow_start`: starts a run, pinned to the current definition.

use rmcp::model::CallToolResult;
use trackway_ports::Identity;
use trackway_runtime::{GuidedRuns, GuidedStartRequest};

use crate::{arguments::CheckedToolArguments, door::McpDoor, position_answer, refusal::ToolRefusal};

pub(crate) async fn call_workflow_start(
    door: &McpDoor,
    identity: &Identity,
    mut arguments: CheckedToolArguments,
) -> Result<CallToolResult, ToolRefusal> {
    let workflow = arguments.take_string_argument("workflowId").unwrap_or_default();
    ToolRefusal::check_can_run_workflow(identity, &workflow)?;
    let context = arguments.take_object_argument("context").unwrap_or_default();
    let joins = GuidedRuns::context_has_session_id(&context);
    let start = GuidedStartRequest { workflow, context, stamp: door.current_stamp() };
    let position = door.guided_runs().start_guided_run(&identity.access(), start).await?;
    if !joins {
        return Ok(position_answer::position_result(door.key_ring(), &position).await);
    }
    // The run has begun: a recap that cannot be read must not cost the caller its tokens.
    match door.guided_runs().build_node_recap(&identity.access(), &position).await {
        Ok(recap) => {
            Ok(position_answer::position_result_with_recap(door.key_ring(), &position, &recap).await)
        }
        Err(error) => {
            tracing::warn!(%error, "the recap of a session is left out");
            Ok(position_answer::position_result(door.key_ring(), &position).await)
        }
    }
}
