//! The registry's contracts, as agents send them.

use serde_json::{Value, json};

use super::{contract_names, find_output_contract};
use crate::model::OutputContractForm;
use crate::test_support::fill_example_choices;

fn parts(name: &str) -> (String, Value, Value) {
    match find_output_contract(name) {
        Some(OutputContractForm::Artifact { kind, schema, example }) => (kind, schema, example),
        other => panic!("{name}: {other:?}"),
    }
}

/// Proves T13: every registered contract shows an example that it accepts once its choices are made, and
/// names its kind.
#[test]
fn every_example_fits() {
    for name in contract_names() {
        let (kind, schema, mut example) = parts(name);
        fill_example_choices(&mut example);
        assert_eq!(kind, name.replacen("contracts.", "", 1));
        assert_eq!(example["kind"], kind);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        assert!(validator.is_valid(&example), "{name}: {example}");
        let mut more = example.clone();
        more["somethingElse"] = json!(1);
        assert!(validator.is_valid(&more), "{name} refuses a further field");
        for key in schema["required"].as_array().expect("required fields") {
            let mut less = example.clone();
            less.as_object_mut().expect("an object").remove(key.as_str().expect("a name"));
            assert!(!validator.is_valid(&less), "{name} does without {key}");
        }
        more["kind"] = json!("wr.other");
        assert!(!validator.is_valid(&more), "{name} takes another kind");
    }
    assert_eq!(find_output_contract("wr.contracts.unknown"), None);
    assert_eq!(find_output_contract("loop_control"), None);
}

/// Proves T13: an agent that copies an example ends no loop and passes no gate: the decision is left open.
#[test]
fn examples_make_no_decision() {
    for (name, field) in [
        ("loop_control", "/decision"),
        ("review_verdict", "/verdict"),
        ("gate_verdict", "/verdict"),
        ("assessment", "/dimensions/evidence"),
    ] {
        let (_, schema, example) = parts(&format!("wr.contracts.{name}"));
        let open = example.pointer(field).and_then(crate::choice_placeholder::parse_choice_placeholder);
        let choices = open.expect("the decision is left open");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        if name != "assessment" {
            assert!(choices.len() > 1 && !validator.is_valid(&example), "{name}: {example}");
        }
    }
}

/// Proves T13: forms that WorkRail accepts are accepted.
#[test]
fn other_forms_fit() {
    let rows = [
        ("loop_control", json!({ "decision": "continue", "metadata": { "reason": "two left" } })),
        ("assessment", json!({ "dimensions": { "a": { "level": "low", "rationale": "thin" } } })),
        (
            "review_verdict",
            json!({ "verdict": "clean", "confidence": "low", "findings": [], "summary": "ok" }),
        ),
    ];
    for (name, mut artifact) in rows {
        let (kind, schema, _) = parts(&format!("wr.contracts.{name}"));
        artifact["kind"] = json!(kind);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        assert!(validator.is_valid(&artifact), "{artifact}");
    }
    let (_, schema, _) = parts("wr.contracts.loop_control");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(!validator.is_valid(&json!({ "kind": "wr.loop_control", "decision": "maybe" })));
}
