//! Trackway's own kinds of step, in strict files.

use serde_json::json;

use super::{format_findings, link_alone, link_among};
use crate::model::{NestedWorkflow, StepKind};
use crate::{Definition, DefinitionDraft, FileFormat, parse_definition_draft};

fn yaml(steps: &str) -> String {
    format!("id: mine\nname: Mine\ndescription: d\nversion: '1'\nsteps:\n{steps}")
}

fn strict(steps: &str) -> Definition {
    match link_alone(&yaml(steps), FileFormat::Yaml) {
        Ok(definition) => definition,
        Err(faults) => panic!("{faults:#?}"),
    }
}

/// Proves T9: one step of every kind.
#[test]
fn every_native_step_kind_is_parsed() {
    let definition = strict(include_str!("own.yaml"));
    insta::assert_json_snapshot!(definition.steps);
    assert!(definition.unsupported.is_empty());
}

fn draft(id: &str, steps: &str) -> DefinitionDraft {
    let text = format!("id: {id}\nname: n\ndescription: d\nversion: '1'\nsteps:\n{steps}");
    match parse_definition_draft(&text, FileFormat::Yaml) {
        Ok(draft) => draft,
        Err(unreadable) => panic!("{unreadable:#?}"),
    }
}

/// Proves T9: a nested workflow is inside the definition, with its own ids.
#[test]
fn a_workflow_inside_a_workflow() {
    let outer = draft(
        "outer",
        "  - id: call\n    workflow: { id: inner, context: { n: '=count' }, output: total }\n",
    );
    assert_eq!(outer.referenced_workflow_ids(), ["inner"]);
    let inner = draft("inner", "  - id: one\n    prompt: One\n");
    let definition = link_among(&[outer, inner], "outer").expect("a definition");
    let StepKind::Nested(NestedWorkflow { workflow, context, steps, output, .. }) = &definition.steps[0].kind
    else {
        panic!("{definition:?}")
    };
    assert_eq!((workflow.as_str(), output.as_deref()), ("inner", Some("total")));
    assert_eq!(context.as_ref().expect("a context")["n"], json!("=count"));
    assert_eq!(steps[0].id, "call.one");
}

/// Proves T9: a missing workflow, and one that contains itself, is reported at the call.
#[test]
fn missing_and_circular_workflows_are_faults() {
    let a = draft("a", "  - id: call\n    workflow: { id: b }\n");
    assert_eq!(
        format_findings(link_among(std::slice::from_ref(&a), "a")),
        ["/steps/0/workflow/id: there is no workflow `b`, or it cannot be read"]
    );
    let b = draft("b", "  - id: back\n    workflow: { id: a }\n");
    assert_eq!(
        format_findings(link_among(&[a, b], "a")),
        ["/steps/0/workflow/id: in `b` at `/steps/0/workflow/id`: the workflow contains itself: a → b → a"]
    );
}

/// Proves T9: workflows that include each other twice stop at a limit, quickly.
#[test]
fn doubling_workflows_end_at_a_bound() {
    let mut drafts = vec![draft("w13", "  - id: leaf\n    prompt: x\n")];
    for level in 0..13 {
        let call = |name: &str| format!("  - id: {name}\n    workflow: {{ id: w{} }}\n", level + 1);
        drafts.push(draft(&format!("w{level}"), &(call("left") + &call("right"))));
    }
    let faults = format_findings(link_among(&drafts, "w0"));
    assert!(faults.iter().any(|line| line.contains("more than 5000 steps")), "{faults:#?}");
}

/// Proves T9: a file whose author ignores types is read if there is only one way to read it; otherwise the
/// finding says what to write.
#[test]
fn untyped_yaml_words_are_read_or_reported() {
    let file = |top: &str, step: &str| {
        let text = format!("id: mine\n{top}\nsteps:\n  - {{ id: one, prompt: x{step} }}\n");
        match parse_definition_draft(&text, FileFormat::Yaml) {
            Ok(draft) => Ok(draft.link_references(&|_| None).expect("it links")),
            Err(unreadable) => Err(unreadable.findings),
        }
    };
    let plain = file("name: 7\nversion: 1", ", title: 2026").expect("it is read");
    assert_eq!((plain.name.as_str(), plain.description.as_str()), ("7", "7"));
    assert_eq!((plain.version.as_str(), plain.steps[0].title.as_str()), ("1", "2026"));
    for (top, step, path, meant) in [
        ("name: n\nversion: 1.10", "", "/version", "\"1.1\""),
        ("name: n\nversion: 1", ", requireConfirmation: yes", "/steps/0/requireConfirmation", "true"),
        ("name: n\nversion: 1", ", runCondition: Off", "/steps/0/runCondition", "false"),
        (
            "name: n\nversion: 1",
            ", outputContract: { contractRef: wr.contracts.review_verdict, required: no }",
            "/steps/0/outputContract/required",
            "false",
        ),
    ] {
        let faults = file(top, step).expect_err("it is refused");
        let suggestion = format!("did you mean `{meant}`?");
        assert_eq!(
            (faults[0].path.as_str(), faults[0].suggestion.as_deref()),
            (path, Some(suggestion.as_str())),
            "{faults:?}"
        );
    }
}
