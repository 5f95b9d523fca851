//! A position as an answer: the same facts as JSON and as text, with tokens signed as the record says.

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_domain::{Pending, Seal};
use trackway_runtime::{Position, Recap};

use crate::{
    recap::SignedRecap,
    text::{self, TEXT_VERSION, Tokens},
    token::{Ack, KeyRing, Place},
    tools,
};

/// An answer to a step.
pub(crate) fn position(ring: &KeyRing, position: &Position) -> CallToolResult {
    let tokens = tokens(ring, position);
    tools::answer(text::position(position, &tokens, ""), structured(position, &tokens))
}

/// A look: where a run stands, and what was recorded around it.
pub(crate) fn look(ring: &KeyRing, position: &Position, recap: &Recap) -> CallToolResult {
    let (structured, text) = handed_over(ring, position, recap);
    tools::answer(text, structured)
}

/// Where a run stands, for whoever hands it on to an agent: the same facts as JSON and as text.
pub fn handed_over(ring: &KeyRing, position: &Position, recap: &Recap) -> (Value, String) {
    let tokens = tokens(ring, position);
    let recap = SignedRecap::new(ring, recap);
    let mut answer = structured(position, &tokens);
    answer["recap"] = recap.structured();
    (answer, text::position(position, &tokens, &recap.text()))
}

/// What answers are written with from now on.
pub fn seal(ring: &KeyRing) -> Seal {
    Seal { key: ring.active(), text: TEXT_VERSION }
}

/// The tokens of a position, with the key that the answer was first signed with.
pub(crate) fn tokens(ring: &KeyRing, position: &Position) -> Tokens {
    let place = Place { run: position.run, node: position.node };
    let key = &position.seal.key;
    let ack = position.ack.map(|ack| ring.ack_token(Ack { place, ack }, key));
    Tokens { state: ring.state_token(place, key), ack }
}

fn structured(position: &Position, tokens: &Tokens) -> Value {
    let mut told = json!({
        "stateToken": tokens.state,
        "ackToken": tokens.ack,
        "pending": position.pending.as_ref().map(pending),
        "isComplete": position.pending.is_none(),
        "session": session(position),
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

pub(crate) fn session(position: &Position) -> Value {
    json!({ "sessionId": position.session, "runId": position.run })
}

fn pending(pending: &Pending) -> Value {
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
