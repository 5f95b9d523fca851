//! Asking a person through the client, where a step wants agreement and the client said that it can.
//!
//! Clients of older revisions are asked by a request of ours while their call waits. From 2026-07-28 on
//! the call is answered with what is needed, and the client sends it again with the person's answer and
//! a state that we sealed: it is bound to the caller and to everything in the call, so that an agreement
//! cannot be carried over to another one.

use std::{collections::BTreeMap, time::Duration};

use rmcp::{
    RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
        InputRequest, InputRequiredResult, InputResponses, ProtocolVersion, RequestStateCodec,
        SealOptions,
    },
    service::RequestContext,
};
use sha2::{Digest as _, Sha256};
use trackway_domain::{Code, Pending};
use trackway_ports::Identity;
use trackway_runtime::{Advance, Consent};

use crate::{door::Door, refusal::Refusal};

/// Name of our one question in the answer that asks for input.
const QUESTION: &str = "confirmation";
/// How long a person may think about a question of the newest revision. After that they are asked again.
/// Limit (MCP): time in which a person answers a confirmation.
const THINKING_TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// How much of a prompt is shown in the question.
/// Limit (MCP): prompt that a confirmation shows.
const SHOWN_CHARS_MAX: usize = 1_000;

/// What came with a call that was sent again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Retry {
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

/// How this client's person can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Not at all: the agent is told to ask, and its advance is the agreement.
    Agent,
    /// By a request while the call waits.
    Request,
    /// By an answer that the client completes and sends back.
    Answer,
}

/// What asking came to.
#[derive(Debug)]
pub(crate) enum Asked {
    Answered(bool),
    /// The client has the question now and comes back.
    Passed(InputRequiredResult),
}

impl Asker {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities();
        let Some(elicitation) = capabilities.and_then(|can| can.elicitation) else {
            return Self::Agent;
        };
        // A client that names neither way means forms: that was the only one at first.
        if elicitation.form.is_none() && elicitation.url.is_some() {
            return Self::Agent;
        }
        let newest =
            |version: ProtocolVersion| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
        if context.protocol_version().is_some_and(newest) { Self::Answer } else { Self::Request }
    }

    /// What is known of the person's agreement as the call arrives.
    pub(crate) fn consent(
        self,
        door: &Door,
        identity: &Identity,
        advance: &Advance,
        retry: &Retry,
    ) -> Consent {
        match self {
            Self::Agent => Consent::Implied,
            Self::Request => Consent::ToBeAsked,
            Self::Answer => match answered(door, identity, advance, retry) {
                Some(agreed) => Consent::Given(agreed),
                None => Consent::ToBeAsked,
            },
        }
    }

    pub(crate) async fn ask(
        self,
        door: &Door,
        identity: &Identity,
        advance: &Advance,
        pending: &Pending,
        context: &RequestContext<RoleServer>,
    ) -> Result<Asked, Refusal> {
        let question = question(pending);
        if self == Self::Answer {
            let bound = binding(identity, advance);
            let options = SealOptions::new().associated_data(&bound).ttl(THINKING_TIME_MAX);
            let state = codec(door)?.seal_with(QUESTION.as_bytes(), &options);
            let request = InputRequest::Elicitation(ElicitRequest::new(question));
            let requests = BTreeMap::from([(QUESTION.to_owned(), request)]);
            return Ok(Asked::Passed(InputRequiredResult::new(Some(requests), Some(state))));
        }
        // Whoever goes away while being asked has agreed to nothing.
        let answer = tokio::select! {
            answer = context.peer.create_elicitation(question) => answer,
            () = context.ct.cancelled() => return Err(unanswered("the call was cancelled")),
            () = door.client_gone() => return Err(unanswered("the client is gone")),
        };
        match answer {
            Ok(result) => Ok(Asked::Answered(agrees(&result))),
            Err(error) => Err(unanswered(&error.to_string())),
        }
    }
}

/// The person's answer that came back with the call, if it belongs to this very call.
fn answered(door: &Door, identity: &Identity, advance: &Advance, retry: &Retry) -> Option<bool> {
    let (state, responses) = (retry.state.as_ref()?, retry.responses.as_ref()?);
    let opened = codec(door).ok()?.open_with(state, &binding(identity, advance)).ok()?;
    if opened != QUESTION.as_bytes() {
        return None;
    }
    let result = serde_json::from_value::<ElicitResult>(responses.get(QUESTION)?.clone()).ok()?;
    Some(agrees(&result))
}

fn agrees(result: &ElicitResult) -> bool {
    let ticked_off =
        result.content.as_ref().is_some_and(|content| content["agree"] == serde_json::json!(false));
    result.action == ElicitationAction::Accept && !ticked_off
}

fn question(pending: &Pending) -> ElicitRequestParams {
    let prompt = pending.prompt.trim();
    let mut shown: String = prompt.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < prompt.len() {
        shown.push('…');
    }
    let message = format!(
        "The agent says that the step “{}” is done and wants to go on. Do you agree?\n\n{shown}",
        pending.title
    );
    let requested_schema =
        ElicitationSchema::builder().optional_bool("agree", true).build_unchecked();
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
}

/// Everything that an agreement is for: who, where, and with what.
fn binding(identity: &Identity, advance: &Advance) -> Vec<u8> {
    let Advance { run, node, ack, inputs, .. } = advance;
    let told = serde_json::json!([identity.caller, run, node, ack, inputs]);
    Sha256::digest(told.to_string()).to_vec()
}

fn codec(door: &Door) -> Result<RequestStateCodec, Refusal> {
    RequestStateCodec::try_new(door.ring().derived(b"mcp request state")).map_err(|error| {
        Refusal::new(Code::StoreFailed, error.to_string(), "Tell the user; nothing was recorded.")
    })
}

fn unanswered(why: &str) -> Refusal {
    let message = format!("the user could not be asked for agreement: {why}");
    let next = "Nothing was recorded. Send the same call again to have the user asked again.";
    Refusal { retryable: true, ..Refusal::new(Code::InvalidRequest, message, next) }
}

#[cfg(test)]
mod tests;
