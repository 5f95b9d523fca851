//! `workflow_checkpoint`: notes without an advance, on a snapshot or on a session.

use rmcp::model::CallToolResult;
use serde_json::json;
use trackway_domain::{ErrorCode, InputRequirement, SessionId, WorkflowRef};
use trackway_ports::Identity;
use trackway_runtime::NotesOutcome;

use crate::{
    arguments::CheckedToolArguments, door::McpDoor, position_answer, refusal::ToolRefusal, text,
    tools::ToolName,
};

pub(crate) async fn call_workflow_checkpoint(
    door: &McpDoor,
    identity: &Identity,
    mut arguments: CheckedToolArguments,
) -> Result<CallToolResult, ToolRefusal> {
    let notes = arguments.take_string_argument("notesMarkdown").unwrap_or_default();
    if notes.trim().is_empty() {
        return Err(invalid_checkpoint_refusal(
            "/notesMarkdown",
            "there is nothing to record: the notes are empty",
        ));
    }
    match (arguments.take_string_argument("stateToken"), arguments.take_string_argument("sessionId")) {
        (Some(token), None) => record_notes_on_node(door, identity, &token, &notes).await,
        (None, Some(session)) => record_notes_on_session(door, identity, &session, &notes).await,
        (Some(_), Some(_)) => {
            Err(invalid_checkpoint_refusal("/sessionId", "send either stateToken or sessionId, not both"))
        }
        (None, None) => {
            Err(invalid_checkpoint_refusal("/stateToken", "send a stateToken, or a sessionId instead"))
        }
    }
}

/// The refusal while the switch is off.
pub(crate) fn checkpoints_disabled_refusal() -> ToolRefusal {
    ToolRefusal::new(
        ErrorCode::SwitchedOff,
        "workflow_checkpoint is switched off on this server",
        "Put the notes into `notesMarkdown` of the next workflow_advance; the operator switches checkpoints on with `--checkpoints on` or `[mcp] checkpoints = true`.",
    )
}

/// The refusal of a checkpoint on a whole session while only that switch is off.
pub(crate) fn session_checkpoints_disabled_refusal() -> ToolRefusal {
    ToolRefusal::new(
        ErrorCode::SwitchedOff,
        "checkpoints on a whole session (sessionId) are switched off on this server",
        "Send a stateToken instead of the sessionId; the operator switches them on with `--session-checkpoints on` or `[mcp] session_checkpoints = true`.",
    )
}

async fn record_notes_on_node(
    door: &McpDoor,
    identity: &Identity,
    token: &str,
    notes: &str,
) -> Result<CallToolResult, ToolRefusal> {
    let place = door.key_ring().verify_state_token(token)?;
    door.authorize_run(identity, place).await?;
    let done = door
        .guided_runs()
        .record_node_checkpoint(&identity.access(), place.run, place.node, notes, door.current_stamp())
        .await?;
    let tokens = position_answer::sign_tokens(door.key_ring(), &done.view).await;
    let structured = json!({
        "recorded": true,
        "repeated": done.is_repeat,
        "stateToken": tokens.state,
        "session": position_answer::position_session_json(&done.view),
        "workflowId": done.view.workflow,
        "workflowHash": done.view.hash,
        "isComplete": done.view.pending.is_none(),
        "warnings": done.view.warnings,
    });
    Ok(super::tool_result(text::render_node_checkpoint(&done.view, &tokens, done.is_repeat), structured))
}

async fn record_notes_on_session(
    door: &McpDoor,
    identity: &Identity,
    session: &str,
    notes: &str,
) -> Result<CallToolResult, ToolRefusal> {
    // They are recorded as a run of this name, so they need the scopes of any run.
    ToolRefusal::check_can_run_workflow(identity, WorkflowRef::SESSION_NOTES)?;
    let session =
        SessionId::new(session).map_err(|why| invalid_checkpoint_refusal("/sessionId", &why.to_string()))?;
    let outcome = door.guided_runs().record_session_notes(&identity.access(), &session, notes).await?;
    let repeated = outcome == NotesOutcome::AlreadyRecorded;
    let structured = json!({
        "recorded": true,
        "repeated": repeated,
        "session": { "sessionId": session },
        "warnings": [],
    });
    Ok(super::tool_result(text::render_session_checkpoint(session.as_str(), repeated), structured))
}

fn invalid_checkpoint_refusal(pointer: &str, message: &str) -> ToolRefusal {
    let need = InputRequirement {
        pointer: pointer.to_owned(),
        message: message.to_owned(),
        ..InputRequirement::default()
    };
    ToolRefusal::invalid_arguments_refusal(ToolName::Checkpoint.as_str(), vec![need])
}
