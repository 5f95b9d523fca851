//! `workflow_advance`: answers the pending step, or looks at it again.

use rmcp::{RoleServer, model::CallToolResponse, service::RequestContext};
use serde_json::Value;
use trackway_domain::{AttemptInputs, InputRequirement, Object};
use trackway_ports::Identity;
use trackway_runtime::{ConsentStatus, GuidedAdvanceRequest, GuidedAdvanceResponse};

use crate::{
    arguments::{CheckedToolArguments, truncate_echoed_value},
    confirmation::{self, ConfirmationOutcome, RetriedCallInputs},
    door::McpDoor,
    position_answer,
    refusal::ToolRefusal,
    token::NodeRef,
    tools::ToolName,
};

const NOTES_KEY: &str = "notesMarkdown";

pub(crate) async fn call_workflow_advance(
    door: &McpDoor,
    identity: &Identity,
    mut arguments: CheckedToolArguments,
    context: &RequestContext<RoleServer>,
    retry: RetriedCallInputs,
) -> Result<CallToolResponse, ToolRefusal> {
    let state = arguments.take_string_argument("stateToken").unwrap_or_default();
    let ack = arguments.take_string_argument("ackToken");
    let inputs = take_attempt_inputs(&mut arguments)?;
    let place = door.key_ring().verify_state_token(&state)?;
    let Some(ack) = ack else {
        return view_node_without_answering(door, identity, place, &inputs).await;
    };
    let ack = door.key_ring().verify_ack_token(&ack, place)?.ack;
    door.authorize_run(identity, place).await?;
    let mut advance = GuidedAdvanceRequest {
        run: place.run,
        node: place.node,
        ack,
        inputs,
        consent: ConsentStatus::Implied,
        stamp: door.current_stamp(),
    };
    let asker = confirmation::ConfirmationMode::for_client_capabilities(context);
    advance.consent = asker.consent_before_asking(door, identity, &advance, &retry)?;
    // At most twice: the second time, the person's answer is known.
    loop {
        match door.guided_runs().advance_guided_run(&identity.access(), advance.clone()).await? {
            GuidedAdvanceResponse::Node(position) => {
                return Ok(position_answer::position_result(door.key_ring(), &position).await.into());
            }
            GuidedAdvanceResponse::ConsentNeeded(pending) => {
                match asker.ask_user_to_confirm(door, identity, &advance, &pending, context).await? {
                    ConfirmationOutcome::Answered(agreed) => {
                        // People take their time.
                        door.key_ring().reload_if_changed().await;
                        advance.consent = ConsentStatus::Answered(agreed);
                    }
                    ConfirmationOutcome::InputRequired(request) => return Ok(request.into()),
                }
            }
        }
    }
}

/// Without an ack nothing is answered. Inputs would be lost, so they are refused.
async fn view_node_without_answering(
    door: &McpDoor,
    identity: &Identity,
    node: NodeRef,
    inputs: &AttemptInputs,
) -> Result<CallToolResponse, ToolRefusal> {
    let is_empty = |output: &Value| output.as_object().is_some_and(Object::is_empty);
    let output = inputs.output.as_ref().filter(|output| !is_empty(output));
    if !inputs.context.is_empty() || output.is_some() || inputs.notes.is_some() {
        return Err(invalid_advance_refusal(vec![InputRequirement {
            message: "ackToken is missing: without it the call only looks, and context, output and notes would be lost; send the ackToken from the same answer as the stateToken".to_owned(),
            ..requirement_at_pointer("/ackToken")
        }]));
    }
    let position = door
        .guided_runs()
        .inspect_node(&identity.access(), node.run, node.node, door.current_stamp())
        .await?;
    ToolRefusal::check_can_run_workflow(identity, &position.workflow)?;
    let recap = door.guided_runs().build_node_recap(&identity.access(), &position).await?;
    Ok(position_answer::position_result_with_recap(door.key_ring(), &position, &recap).await.into())
}

/// The agent's result. Notes may be in three fields and mean the same in each; empty notes are ignored.
fn take_attempt_inputs(arguments: &mut CheckedToolArguments) -> Result<AttemptInputs, ToolRefusal> {
    let mut context = arguments.take_object_argument("context").unwrap_or_default();
    let mut output = arguments.take_object_argument("output");
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut needs = Vec::new();
    if let Some(notes) = arguments.take_string_argument(NOTES_KEY) {
        found.push(("/notesMarkdown", notes));
    }
    let places = [("/context/notesMarkdown", Some(&mut context)), ("/output/notesMarkdown", output.as_mut())];
    for (pointer, place) in places {
        match place.and_then(|place| place.remove(NOTES_KEY)) {
            None | Some(Value::Null) => {}
            Some(Value::String(notes)) => found.push((pointer, notes)),
            Some(other) => needs.push(InputRequirement {
                message: "notesMarkdown must be of type string".to_owned(),
                schema: Some(serde_json::json!({ "type": "string" })),
                example: Some("What I did, found and decided.".into()),
                got: Some(truncate_echoed_value(other)),
                ..requirement_at_pointer(pointer)
            }),
        }
    }
    let noted = found.iter().any(|(pointer, _)| *pointer == "/output/notesMarkdown");
    found.retain(|(_, notes)| !notes.is_empty());
    if let Some((first, notes)) = found.first() {
        let others = found.iter().filter(|(_, other)| other != notes);
        needs.extend(others.map(|(pointer, _)| InputRequirement {
            message: format!("these notes differ from those at {first}; send them in one place only"),
            ..requirement_at_pointer(pointer)
        }));
    }
    if !needs.is_empty() {
        return Err(invalid_advance_refusal(needs));
    }
    // An output that contained nothing but notes counts as absent.
    let output = output.filter(|output| !(noted && Object::is_empty(output)));
    let notes = found.into_iter().next().map(|(_, notes)| notes);
    Ok(AttemptInputs { context, output: output.map(Value::Object), notes })
}

fn requirement_at_pointer(pointer: &str) -> InputRequirement {
    InputRequirement { pointer: pointer.to_owned(), ..InputRequirement::default() }
}

fn invalid_advance_refusal(needs: Vec<InputRequirement>) -> ToolRefusal {
    ToolRefusal::invalid_arguments_refusal(ToolName::Advance.as_str(), needs)
}
