//! `workflow_advance`: answers the pending step, or looks at it again.

use rmcp::{RoleServer, model::CallToolResponse, service::RequestContext};
use serde_json::Value;
use trackway_domain::{Inputs, Need, Object};
use trackway_ports::Identity;
use trackway_runtime::{Advance, Advanced, Consent};

use crate::{
    answer,
    arguments::{Arguments, shortened},
    confirm::{self, Asked, Retry},
    door::Door,
    refusal::Refusal,
    token::Place,
    tools::Name,
};

const NOTES: &str = "notesMarkdown";

pub(crate) async fn advance(
    door: &Door,
    identity: &Identity,
    mut arguments: Arguments,
    context: &RequestContext<RoleServer>,
    retry: Retry,
) -> Result<CallToolResponse, Refusal> {
    let state = arguments.text("stateToken").unwrap_or_default();
    let ack = arguments.text("ackToken");
    let inputs = inputs(&mut arguments)?;
    let place = door.ring().read_state(&state)?;
    let Some(ack) = ack else {
        return look(door, identity, place, &inputs).await;
    };
    let ack = door.ring().read_ack(&ack, place)?.ack;
    door.permit(identity, place).await?;
    let mut advance = Advance {
        run: place.run,
        node: place.node,
        ack,
        inputs,
        consent: Consent::Implied,
        seal: door.seal(),
    };
    let asker = confirm::Asker::of(context);
    advance.consent = asker.consent(door, identity, &advance, &retry)?;
    // At most twice: the second time the answer of the person is known.
    loop {
        match door.guide().advance(&identity.access(), advance.clone()).await? {
            Advanced::Position(position) => {
                return Ok(answer::position(door.ring(), &position).into());
            }
            Advanced::AskFirst(pending) => {
                match asker.ask(door, identity, &advance, &pending, context).await? {
                    Asked::Answered(agreed) => {
                        // People take their time.
                        door.ring().renew();
                        advance.consent = Consent::Given(agreed);
                    }
                    Asked::Passed(request) => return Ok(request.into()),
                }
            }
        }
    }
}

/// Without an ack nothing is answered. Inputs would be lost, so they are not taken.
async fn look(
    door: &Door,
    identity: &Identity,
    place: Place,
    inputs: &Inputs,
) -> Result<CallToolResponse, Refusal> {
    let is_empty = |output: &Value| output.as_object().is_some_and(Object::is_empty);
    let output = inputs.output.as_ref().filter(|output| !is_empty(output));
    if !inputs.context.is_empty() || output.is_some() || inputs.notes.is_some() {
        return Err(wrong(vec![Need {
            message: "ackToken is missing: without it the call only looks, and context, output and notes would be lost; send the ackToken from the same answer as the stateToken".to_owned(),
            ..need("/ackToken")
        }]));
    }
    let position =
        door.guide().look(&identity.access(), place.run, place.node, door.seal()).await?;
    if !identity.scopes.allow_run(&position.workflow) {
        return Err(Refusal::forbidden(&position.workflow));
    }
    let recap = door.guide().recap(&identity.access(), &position).await?;
    Ok(answer::look(door.ring(), &position, &recap).into())
}

/// What the agent brought. Notes may stand in three places and mean the same in each; empty ones are none.
fn inputs(arguments: &mut Arguments) -> Result<Inputs, Refusal> {
    let mut context = arguments.object("context").unwrap_or_default();
    let mut output = arguments.object("output");
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut needs = Vec::new();
    if let Some(notes) = arguments.text(NOTES) {
        found.push(("/notesMarkdown", notes));
    }
    let places = [
        ("/context/notesMarkdown", Some(&mut context)),
        ("/output/notesMarkdown", output.as_mut()),
    ];
    for (pointer, place) in places {
        match place.and_then(|place| place.remove(NOTES)) {
            None | Some(Value::Null) => {}
            Some(Value::String(notes)) => found.push((pointer, notes)),
            Some(other) => needs.push(Need {
                message: "notesMarkdown must be of type string".to_owned(),
                schema: Some(serde_json::json!({ "type": "string" })),
                example: Some("What I did, found and decided.".into()),
                got: Some(shortened(other)),
                ..need(pointer)
            }),
        }
    }
    let noted = found.iter().any(|(pointer, _)| *pointer == "/output/notesMarkdown");
    found.retain(|(_, notes)| !notes.is_empty());
    if let Some((first, notes)) = found.first() {
        let others = found.iter().filter(|(_, other)| other != notes);
        needs.extend(others.map(|(pointer, _)| Need {
            message: format!(
                "these notes differ from those at {first}; send them in one place only"
            ),
            ..need(pointer)
        }));
    }
    if !needs.is_empty() {
        return Err(wrong(needs));
    }
    // An output that held nothing but notes is none.
    let output = output.filter(|output| !(noted && Object::is_empty(output)));
    let notes = found.into_iter().next().map(|(_, notes)| notes);
    Ok(Inputs { context, output: output.map(Value::Object), notes })
}

fn need(pointer: &str) -> Need {
    Need { pointer: pointer.to_owned(), ..Need::default() }
}

fn wrong(needs: Vec<Need>) -> Refusal {
    Refusal::arguments(Name::Advance.as_str(), needs)
}
