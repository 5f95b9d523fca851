//! `workflow_checkpoint`: notes without an advance, on a snapshot or on a session.

use rmcp::model::CallToolResult;
use serde_json::json;
use trackway_domain::{Code, Need, SessionId, WorkflowRef};
use trackway_ports::Identity;

use crate::{answer, arguments::Arguments, door::Door, refusal::Refusal, text, tools::Name};

pub(crate) async fn checkpoint(
    door: &Door,
    identity: &Identity,
    mut arguments: Arguments,
) -> Result<CallToolResult, Refusal> {
    let notes = arguments.text("notesMarkdown").unwrap_or_default();
    if notes.trim().is_empty() {
        return Err(wrong("/notesMarkdown", "there is nothing to record: the notes are empty"));
    }
    match (arguments.text("stateToken"), arguments.text("sessionId")) {
        (Some(token), None) => on_snapshot(door, identity, &token, &notes).await,
        (None, Some(session)) => on_session(door, identity, &session, &notes).await,
        (Some(_), Some(_)) => {
            Err(wrong("/sessionId", "send either stateToken or sessionId, not both"))
        }
        (None, None) => Err(wrong("/stateToken", "send a stateToken, or a sessionId instead")),
    }
}

/// What to say to a call while the switch is off.
pub(crate) fn switched_off() -> Refusal {
    Refusal::new(
        Code::SwitchedOff,
        "workflow_checkpoint is switched off on this server",
        "Put the notes into `notesMarkdown` of the next workflow_advance; the operator switches checkpoints on with `--checkpoints on` or `[mcp] checkpoints = true`.",
    )
}

/// What to say to a checkpoint on a whole session while only that switch is off.
pub(crate) fn sessions_switched_off() -> Refusal {
    Refusal::new(
        Code::SwitchedOff,
        "checkpoints on a whole session (sessionId) are switched off on this server",
        "Send a stateToken instead of the sessionId; the operator switches them on with `--session-checkpoints on` or `[mcp] session_checkpoints = true`.",
    )
}

async fn on_snapshot(
    door: &Door,
    identity: &Identity,
    token: &str,
    notes: &str,
) -> Result<CallToolResult, Refusal> {
    let place = door.ring().read_state(token)?;
    door.permit(identity, place).await?;
    let done = door
        .guide()
        .checkpoint(&identity.access(), place.run, place.node, notes, door.seal())
        .await?;
    let tokens = answer::tokens(door.ring(), &done.position);
    let structured = json!({
        "recorded": true,
        "repeated": done.repeated,
        "stateToken": tokens.state,
        "session": answer::session(&done.position),
        "workflowId": done.position.workflow,
        "workflowHash": done.position.hash,
        "isComplete": done.position.pending.is_none(),
        "warnings": done.position.warnings,
    });
    Ok(super::answer(text::checkpoint(&done.position, &tokens, done.repeated), structured))
}

async fn on_session(
    door: &Door,
    identity: &Identity,
    session: &str,
    notes: &str,
) -> Result<CallToolResult, Refusal> {
    // They are recorded as a run of this name, and so need what any run needs.
    if !identity.scopes.allow_run(WorkflowRef::SESSION_NOTES) {
        return Err(Refusal::forbidden(WorkflowRef::SESSION_NOTES));
    }
    let session = SessionId::new(session).map_err(|why| wrong("/sessionId", &why.to_string()))?;
    let repeated = door.guide().checkpoint_session(&identity.access(), &session, notes).await?;
    let structured = json!({
        "recorded": true,
        "repeated": repeated,
        "session": { "sessionId": session },
        "warnings": [],
    });
    Ok(super::answer(text::session_checkpoint(session.as_str(), repeated), structured))
}

fn wrong(pointer: &str, message: &str) -> Refusal {
    let need = Need { pointer: pointer.to_owned(), message: message.to_owned(), ..Need::default() };
    Refusal::arguments(Name::Checkpoint.as_str(), vec![need])
}
