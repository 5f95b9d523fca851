//! `workflow_checkpoint`: notes without an advance, on a snapshot or on a session.

use rmcp::model::CallToolResult;
use serde_json::json;
use trackway_domain::{Code, InputRequirement, SessionId, WorkflowRef};
use trackway_ports::Identity;

use crate::{
    arguments::Arguments, door::McpDoor, position_answer, refusal::ToolRefusal, text, tools::ToolName,
};

pub(crate) async fn call_checkpoint(
    door: &McpDoor,
    identity: &Identity,
    mut arguments: Arguments,
) -> Result<CallToolResult, ToolRefusal> {
    let notes = arguments.take_string("notesMarkdown").unwrap_or_default();
    if notes.trim().is_empty() {
        return Err(invalid_checkpoint("/notesMarkdown", "there is nothing to record: the notes are empty"));
    }
    match (arguments.take_string("stateToken"), arguments.take_string("sessionId")) {
        (Some(token), None) => checkpoint_node(door, identity, &token, &notes).await,
        (None, Some(session)) => checkpoint_session(door, identity, &session, &notes).await,
        (Some(_), Some(_)) => {
            Err(invalid_checkpoint("/sessionId", "send either stateToken or sessionId, not both"))
        }
        (None, None) => Err(invalid_checkpoint("/stateToken", "send a stateToken, or a sessionId instead")),
    }
}

/// The refusal while the switch is off.
pub(crate) fn checkpoints_disabled() -> ToolRefusal {
    ToolRefusal::new(
        Code::SwitchedOff,
        "workflow_checkpoint is switched off on this server",
        "Put the notes into `notesMarkdown` of the next workflow_advance; the operator switches checkpoints on with `--checkpoints on` or `[mcp] checkpoints = true`.",
    )
}

/// The refusal of a checkpoint on a whole session while only that switch is off.
pub(crate) fn session_checkpoints_disabled() -> ToolRefusal {
    ToolRefusal::new(
        Code::SwitchedOff,
        "checkpoints on a whole session (sessionId) are switched off on this server",
        "Send a stateToken instead of the sessionId; the operator switches them on with `--session-checkpoints on` or `[mcp] session_checkpoints = true`.",
    )
}

async fn checkpoint_node(
    door: &McpDoor,
    identity: &Identity,
    token: &str,
    notes: &str,
) -> Result<CallToolResult, ToolRefusal> {
    let place = door.key_ring().verify_state_token(token)?;
    door.authorize_run(identity, place).await?;
    let done = door
        .guide()
        .checkpoint(&identity.access(), place.run, place.node, notes, door.current_stamp())
        .await?;
    let tokens = position_answer::sign_tokens(door.key_ring(), &done.view).await;
    let structured = json!({
        "recorded": true,
        "repeated": done.is_repeat,
        "stateToken": tokens.state,
        "session": position_answer::session_json(&done.view),
        "workflowId": done.view.workflow,
        "workflowHash": done.view.hash,
        "isComplete": done.view.pending.is_none(),
        "warnings": done.view.warnings,
    });
    Ok(super::tool_result(text::render_checkpoint(&done.view, &tokens, done.is_repeat), structured))
}

async fn checkpoint_session(
    door: &McpDoor,
    identity: &Identity,
    session: &str,
    notes: &str,
) -> Result<CallToolResult, ToolRefusal> {
    // They are recorded as a run of this name, so they need the scopes of any run.
    if !identity.scopes.allows_run(WorkflowRef::SESSION_NOTES) {
        return Err(ToolRefusal::forbidden_workflow(WorkflowRef::SESSION_NOTES));
    }
    let session =
        SessionId::new(session).map_err(|why| invalid_checkpoint("/sessionId", &why.to_string()))?;
    let repeated = door.guide().checkpoint_session(&identity.access(), &session, notes).await?;
    let structured = json!({
        "recorded": true,
        "repeated": repeated,
        "session": { "sessionId": session },
        "warnings": [],
    });
    Ok(super::tool_result(text::render_session_checkpoint(session.as_str(), repeated), structured))
}

fn invalid_checkpoint(pointer: &str, message: &str) -> ToolRefusal {
    let need = InputRequirement {
        pointer: pointer.to_owned(),
        message: message.to_owned(),
        ..InputRequirement::default()
    };
    ToolRefusal::invalid_arguments(ToolName::Checkpoint.as_str(), vec![need])
}
