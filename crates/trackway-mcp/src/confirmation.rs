//! Asks a person through the client, if a step requires agreement and the client supports that.
//!
//! Clients of older revisions get a request from the server while their call waits. From 2026-07-28 on, the
//! server answers the call with the question, and the client sends the call again with the person's answer
//! and a state that the server sealed. The state is bound to the caller and to everything in the call, so
//! an agreement cannot be used for another call.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use rmcp::{
    RoleServer,
    model::{
        BooleanSchema, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, PrimitiveSchemaDefinition,
        ProtocolVersion, RequestStateCodec, SealOptions,
    },
    service::RequestContext,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use trackway_domain::{AttemptInputs, ErrorCode, InputRequirement, PendingStep};
use trackway_ports::Identity;
use trackway_runtime::{ConsentStatus, GuidedAdvanceRequest};

use crate::{arguments, door::McpDoor, refusal::ToolRefusal};

/// Name of our one question in the answer that asks for input.
const CONFIRMATION_KEY: &str = "confirmation";
/// How long a person has to answer a question of the newest revision. After that the server asks again.
/// Limit (MCP): time in which a person answers a confirmation.
const CONFIRMATION_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Limit (MCP): characters of the notes in the question that a person is asked.
const NOTES_CHARS_MAX: usize = 4_000;
/// Limit (MCP): characters of the output, and of the new facts, in the question that a person is asked.
const DATA_CHARS_MAX: usize = 2_000;
/// Name of the field that a person fills in.
const AGREE_FIELD: &str = "agree";

/// The person's answer and the sealed state of a call that was sent again.
#[derive(Debug, Clone, Default)]
pub(crate) struct RetriedCallInputs {
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

/// How the server can ask this client's person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfirmationMode {
    /// Not at all: the answer tells the agent to ask, and its advance is the agreement.
    Agent,
    /// By a request while the call waits.
    Elicitation,
    /// By an answer that the client completes and sends back.
    InputRequired,
}

/// The result of asking.
#[derive(Debug)]
pub(crate) enum ConfirmationOutcome {
    Answered(bool),
    /// The client has the question and will send the call again.
    InputRequired(InputRequiredResult),
}

impl ConfirmationMode {
    pub(crate) fn for_client_capabilities(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities();
        let Some(elicitation) = capabilities.and_then(|can| can.elicitation) else {
            return Self::Agent;
        };
        // A client that names neither way supports forms: the first revision had nothing else.
        if elicitation.form.is_none() && elicitation.url.is_some() {
            return Self::Agent;
        }
        let newest = |version: ProtocolVersion| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
        if context.protocol_version().is_some_and(newest) { Self::InputRequired } else { Self::Elicitation }
    }

    /// What is known of the person's agreement when the call arrives.
    pub(crate) fn consent_before_asking(
        self,
        door: &McpDoor,
        identity: &Identity,
        advance: &GuidedAdvanceRequest,
        retry: &RetriedCallInputs,
    ) -> Result<ConsentStatus, ToolRefusal> {
        Ok(match self {
            Self::Agent => ConsentStatus::Implied,
            Self::Elicitation => ConsentStatus::NotAskedYet,
            Self::InputRequired => match confirmation_in_retried_call(door, identity, advance, retry) {
                Some(result) => ConsentStatus::Answered(parse_user_agrees(&result)?),
                None => ConsentStatus::NotAskedYet,
            },
        })
    }

    pub(crate) async fn ask_user_to_confirm(
        self,
        door: &McpDoor,
        identity: &Identity,
        advance: &GuidedAdvanceRequest,
        pending: &PendingStep,
        context: &RequestContext<RoleServer>,
    ) -> Result<ConfirmationOutcome, ToolRefusal> {
        let question = build_confirmation_question(pending, &advance.inputs);
        if self == Self::InputRequired {
            let bound = digest_of_confirmed_call(identity, advance);
            let options = SealOptions::new().associated_data(&bound).ttl(CONFIRMATION_TTL);
            let state = request_state_codec(door)?.seal_with(CONFIRMATION_KEY.as_bytes(), &options);
            let request = InputRequest::Elicitation(ElicitRequest::new(question));
            let requests = BTreeMap::from([(CONFIRMATION_KEY.to_owned(), request)]);
            return Ok(ConfirmationOutcome::InputRequired(InputRequiredResult::new(
                Some(requests),
                Some(state),
            )));
        }
        // A person who leaves without an answer has not agreed.
        let answer = tokio::select! {
            answer = context.peer.create_elicitation(question) => answer,
            () = context.ct.cancelled() => return Err(unanswered_confirmation_refusal("the call was cancelled")),
            () = door.wait_for_client_disconnect() => return Err(unanswered_confirmation_refusal("the client is gone")),
        };
        match answer {
            Ok(result) => Ok(ConfirmationOutcome::Answered(parse_user_agrees(&result)?)),
            Err(error) => Err(unanswered_confirmation_refusal(&error.to_string())),
        }
    }
}

/// The person's answer that came with the call, if it belongs to exactly this call.
fn confirmation_in_retried_call(
    door: &McpDoor,
    identity: &Identity,
    advance: &GuidedAdvanceRequest,
    retry: &RetriedCallInputs,
) -> Option<ElicitResult> {
    let (state, responses) = (retry.state.as_ref()?, retry.responses.as_ref()?);
    let opened = request_state_codec(door)
        .ok()?
        .open_with(state, &digest_of_confirmed_call(identity, advance))
        .ok()?;
    if opened != CONFIRMATION_KEY.as_bytes() {
        return None;
    }
    serde_json::from_value::<ElicitResult>(responses.get(CONFIRMATION_KEY)?.clone()).ok()
}

/// Only the boolean `true` is agreement. `false`, declining and cancelling mean no. Any other value is
/// neither yes nor no, and nothing is recorded for it.
fn parse_user_agrees(result: &ElicitResult) -> Result<bool, ToolRefusal> {
    if result.action != ElicitationAction::Accept {
        return Ok(false);
    }
    let agree = result.content.as_ref().map(|content| &content[AGREE_FIELD]);
    match agree {
        Some(Value::Bool(agree)) => Ok(*agree),
        other => Err(unclear_confirmation_refusal(other.cloned().unwrap_or_default())),
    }
}

/// The text for the person: the agent's result, because that is what they agree to. The instructions to the
/// agent do not say what it did.
fn build_confirmation_question(pending: &PendingStep, inputs: &AttemptInputs) -> ElicitRequestParams {
    let mut message = format!(
        "The agent says that the step “{}” is done and wants to go on. Do you agree?\n",
        pending.title
    );
    let notes = inputs.notes.as_deref().map(|notes| truncate_with_count(notes.trim(), NOTES_CHARS_MAX));
    let output = inputs.output.as_ref().map(format_json_preview);
    let facts =
        (!inputs.context.is_empty()).then(|| format_json_preview(&Value::Object(inputs.context.clone())));
    let brought = [("Notes", notes), ("Output", output), ("New facts", facts)];
    if brought.iter().all(|(_, text)| text.is_none()) {
        message.push_str("\nIt says nothing about what it did.");
    }
    for (heading, text) in brought {
        if let Some(text) = text {
            let _ = write!(message, "\n{heading}:\n{text}\n");
        }
    }
    let field = PrimitiveSchemaDefinition::Boolean(
        BooleanSchema::new().title("I agree").description("Only yes lets the agent go on."),
    );
    let requested_schema =
        ElicitationSchema::builder().required_property(AGREE_FIELD, field).build_unchecked();
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
}

fn format_json_preview(value: &Value) -> String {
    truncate_with_count(&format!("{value:#}"), DATA_CHARS_MAX)
}

/// The first characters of the text, with a mark if it was cut.
fn truncate_with_count(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}… ({more} more characters)", &text[..end])
        }
    }
}

/// Everything that an agreement covers: the caller, the step and the inputs.
fn digest_of_confirmed_call(identity: &Identity, advance: &GuidedAdvanceRequest) -> Vec<u8> {
    let GuidedAdvanceRequest { run, node, ack, inputs, .. } = advance;
    let told = serde_json::json!([identity.caller, run, node, ack, inputs]);
    Sha256::digest(told.to_string()).to_vec()
}

fn request_state_codec(door: &McpDoor) -> Result<RequestStateCodec, ToolRefusal> {
    RequestStateCodec::try_new(door.key_ring().derive_key_for_purpose(b"mcp request state")).map_err(
        |error| {
            ToolRefusal::new(ErrorCode::Internal, error.to_string(), "Tell the user; nothing was recorded.")
        },
    )
}

fn unclear_confirmation_refusal(received: Value) -> ToolRefusal {
    let need = InputRequirement {
        pointer: format!("/{AGREE_FIELD}"),
        message: "the user's answer must be true or false".to_owned(),
        schema: Some(serde_json::json!({ "type": "boolean" })),
        got: Some(arguments::truncate_echoed_value(received)),
        ..InputRequirement::default()
    };
    let message = "the user was asked for agreement, and the answer is neither true nor false";
    let next = "Nothing was recorded. Send the same call again, without an earlier answer, to have the user asked again.";
    ToolRefusal {
        retryable: true,
        needs: vec![need],
        ..ToolRefusal::new(ErrorCode::ConfirmationUnclear, message, next)
    }
}

fn unanswered_confirmation_refusal(why: &str) -> ToolRefusal {
    let message = format!("the user could not be asked for agreement: {why}");
    let next = "Nothing was recorded. Send the same call again to have the user asked again.";
    ToolRefusal { retryable: true, ..ToolRefusal::new(ErrorCode::InvalidRequest, message, next) }
}

#[cfg(test)]
mod tests;
