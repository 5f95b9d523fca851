//! A position as an answer: the same facts as JSON and as text. The tokens are signed with the recorded
//! key.

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_domain::{PendingStep, ReplyRenderStamp};
use trackway_runtime::{GuidedNodeView, NodeRecap};

use crate::{
    recap::SignedRecap,
    text::{self, SignedTokens, TEXT_VERSION},
    token::{AttemptRef, KeyRing, NodeRef},
    tools,
};

/// An answer to a step.
pub(crate) async fn position_result(ring: &KeyRing, position: &GuidedNodeView) -> CallToolResult {
    let tokens = sign_tokens(ring, position).await;
    tools::tool_result(text::render_position(position, &tokens, ""), position_json(position, &tokens))
}

/// A look: where a run stands, and what was recorded around it.
pub(crate) async fn position_result_with_recap(
    ring: &KeyRing,
    position: &GuidedNodeView,
    recap: &NodeRecap,
) -> CallToolResult {
    let (structured, text) = describe_position(ring, position, recap).await;
    tools::tool_result(text, structured)
}

/// Where a run stands, for whoever hands it on to an agent: the same facts as JSON and as text.
pub async fn describe_position(
    ring: &KeyRing,
    position: &GuidedNodeView,
    recap: &NodeRecap,
) -> (Value, String) {
    let tokens = sign_tokens(ring, position).await;
    let recap = SignedRecap::new(ring, recap);
    let mut answer = position_json(position, &tokens);
    answer["recap"] = recap.to_recap_json();
    (answer, text::render_position(position, &tokens, &recap.render_recap_markdown()))
}

/// The key and the text version that answers are rendered with from now on.
pub fn current_stamp(ring: &KeyRing) -> ReplyRenderStamp {
    ReplyRenderStamp { key: ring.active_key_name(), text_version: TEXT_VERSION }
}

/// The tokens of a position, with the key that the answer was first signed with.
pub(crate) async fn sign_tokens(ring: &KeyRing, position: &GuidedNodeView) -> SignedTokens {
    let place = NodeRef { run: position.run, node: position.node };
    let key = &position.stamp.key;
    ring.ensure_key(key).await;
    let ack = position.ack.map(|ack| ring.sign_ack_token(AttemptRef { node_ref: place, ack }, key));
    SignedTokens { state: ring.sign_state_token(place, key), ack }
}

fn position_json(position: &GuidedNodeView, tokens: &SignedTokens) -> Value {
    let mut told = json!({
        "stateToken": tokens.state,
        "ackToken": tokens.ack,
        "pending": position.pending.as_ref().map(pending_step_json),
        "isComplete": position.pending.is_none(),
        "session": position_session_json(position),
        "workflowId": position.workflow,
        "workflowHash": position.hash,
        "branch": position.branch,
        "warnings": position.warnings,
        "blocked": position.blocked,
    });
    if !position.guidance.is_empty() {
        told["guidance"] = json!(position.guidance);
    }
    told
}

pub(crate) fn position_session_json(position: &GuidedNodeView) -> Value {
    json!({ "sessionId": position.session, "runId": position.run })
}

fn pending_step_json(pending: &PendingStep) -> Value {
    let mut told = json!({
        "stepId": pending.step,
        "title": pending.title,
        "prompt": pending.prompt,
        "requireConfirmation": pending.confirm,
    });
    if let Some(expected) = &pending.output {
        told["output"] = json!(expected);
    }
    if !pending.facts.is_empty() {
        told["facts"] = json!(pending.facts);
    }
    told
}
