//! Routines that `templateCall` calls: their arguments, their input, and their confirmation.

use serde_json::{Value, json};

use super::{format_findings, link_among, with_steps};
use crate::model::{Condition, Step, StepKind};
use crate::{Definition, DefinitionDraft, FileFormat, Finding, parse_definition_draft};

fn routine(steps: &Value, more: &Value) -> DefinitionDraft {
    let mut file = json!({
        "id": "wr.routine-look", "name": "Look", "description": "Looks.", "version": "1.0.0",
        "steps": steps,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        file[key] = value.clone();
    }
    parse_definition_draft(&file.to_string(), FileFormat::Json).expect("a draft")
}

fn link_call(call: &Value, routine: DefinitionDraft) -> Result<Definition, Vec<Finding>> {
    let mut step = json!({ "id": "call", "title": "Call" });
    for (key, value) in call.as_object().into_iter().flatten() {
        step[key] = value.clone();
    }
    let draft = parse_definition_draft(&with_steps(&json!([step])), FileFormat::Json).expect("a draft");
    link_among(&[draft, routine], "some-work")
}

fn plain_steps() -> Value {
    json!({ "templateId": "wr.templates.routine.look" })
}

fn notes(definition: &Definition) -> Vec<(&str, bool)> {
    definition.unsupported.iter().map(|note| (note.message.as_str(), note.matters)).collect()
}

fn confirm(step: &Step) -> Option<&Condition> {
    match &step.kind {
        StepKind::Prompt(prompt) => prompt.confirm.as_ref(),
        other => panic!("{other:?} is no prompt"),
    }
}

/// A called routine is confirmed when it is done: at its last prompt, at any depth, and by the routine's own
/// rule if it has one. Proves T9.
#[test]
fn a_call_is_confirmed_at_the_last_prompt() {
    let call = json!({ "templateCall": plain_steps(), "requireConfirmation": true });
    let one = json!({ "id": "one", "title": "One", "prompt": "One." });
    let looped = json!({
        "id": "again", "title": "Again", "type": "loop",
        "loop": { "type": "for", "count": 2, "maxIterations": 2 },
        "body": [
            { "id": "in", "title": "In", "prompt": "In." },
            { "id": "last", "title": "Last", "prompt": "Last." },
        ],
    });
    let definition = link_call(&call, routine(&json!([one, looped]), &json!({}))).expect("it links");
    assert_eq!(confirm(&definition.steps[0]), None);
    let StepKind::Loop(inner) = &definition.steps[1].kind else { panic!("{definition:?}") };
    assert_eq!(confirm(&inner.steps[0]), None);
    assert_eq!(confirm(&inner.steps[1]), Some(&Condition::Always));
    assert_eq!(notes(&definition), []);

    let own = json!({
        "id": "two", "title": "Two", "prompt": "Two.",
        "requireConfirmation": { "var": "sure", "equals": true },
    });
    let definition = link_call(&call, routine(&json!([one, own]), &json!({}))).expect("it links");
    assert!(matches!(confirm(&definition.steps[1]), Some(Condition::Rule(_))));
}

/// A routine without a prompt has nothing to confirm, which changes what runs. Proves T9.
#[test]
fn a_call_without_a_prompt_has_nothing_to_confirm() {
    let call = json!({ "templateCall": plain_steps(), "requireConfirmation": true });
    let steps = json!([{ "id": "note", "title": "Note", "emit": { "artifact": "a", "text": "t" } }]);
    let definition = link_call(&call, routine(&steps, &json!({}))).expect("it links");
    assert_eq!(
        notes(&definition),
        [("`requireConfirmation` has no effect: the routine has no prompt to confirm", true)]
    );
}

/// A name in single braces is always an argument: a call without it gets a finding. Names in double braces
/// may be the context's, and those of a shell are text. Proves T9.
#[test]
fn an_argument_that_is_left_out_is_noted() {
    let text = "Write {file} and {kind}, {{topic}}, ${HOME} and {not a name}.";
    let steps = json!([{ "id": "one", "title": "One", "prompt": text }]);
    let mut call = plain_steps();
    call["args"] = json!({ "kind": "{kept}" });
    let definition =
        link_call(&json!({ "templateCall": call }), routine(&steps, &json!({}))).expect("it links");
    let said = "the routine has a place for `{file}`, and the call has no argument `file`: it is \
                shown as it stands";
    assert_eq!(notes(&definition), [(said, false)]);

    let strict = |args: &str| {
        let text = format!(
            "id: strict\nname: n\ndescription: d\nversion: '1'\nsteps:\n- id: call\n  templateCall: \
             {{ templateId: wr.templates.routine.look{args} }}\n"
        );
        let draft = parse_definition_draft(&text, FileFormat::Yaml).expect("a draft");
        format_findings(link_among(&[draft, routine(&steps, &json!({}))], "strict"))
    };
    let faults = strict("");
    assert_eq!(faults.len(), 2, "{faults:#?}");
    assert_eq!(
        faults[0],
        format!("/steps/0/templateCall/templateId: {said}; where that is meant, say `file: \"{{file}}\"`")
    );
    assert_eq!(strict(", args: { file: '{file}', kind: x }"), [""; 0]);
}

/// The input of a routine is checked against the context of its caller. Proves T9.
#[test]
fn the_input_of_a_routine_is_kept() {
    let steps = json!([{ "id": "one", "title": "One", "prompt": "One." }]);
    let input = json!({ "type": "object", "required": ["topic"] });
    let definition =
        link_call(&json!({ "templateCall": plain_steps() }), routine(&steps, &json!({ "input": input })))
            .expect("it links");
    let StepKind::Nested(nested) = &definition.steps[0].kind else { panic!("{definition:?}") };
    assert_eq!((nested.input.as_ref(), nested.context.as_ref()), (Some(&input), None));
    assert_eq!(nested.steps[0].id, "call.one");
    assert_eq!(notes(&definition), []);
}
