//! The schema for the model, and the two ways of input, as tables.

use trackway_runtime::SchemaCache;

use super::*;

fn onboarding() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 2 },
            "plan": { "enum": ["free", "paid"] },
            "born": { "type": "string", "format": "date" },
            "seats": { "type": "integer", "maximum": 10 },
            "address": { "$ref": "#/$defs/Address" },
            "note": { "type": ["string", "null"] },
        },
        "required": ["name", "plan"],
        "additionalProperties": false,
        "$defs": { "Address": { "type": "object", "properties": { "city": {} }, "required": ["city"] } },
    })
}

fn parse(schema: &Value, arguments: Value) -> Result<WorkflowInput, Vec<ValidationError>> {
    WorkflowArguments::new(schema).parse(&SchemaCache::default(), arguments)
}

/// The paths and codes of what is wrong.
fn problems(schema: &Value, arguments: Value) -> Vec<String> {
    let errors = parse(schema, arguments).unwrap_err();
    let mut found: Vec<String> =
        errors.iter().map(|error| format!("{} {}", error.path, error.code)).collect();
    found.sort();
    found
}

/// Proves I4: enum, format, limits, nested required and definitions stay, nothing is required at the top, and
/// `input_artifact` is there.
#[test]
fn the_model_sees_the_whole_schema_with_everything_optional() {
    let shown = WorkflowArguments::new(&onboarding()).schema_for_model();
    let mut expected = onboarding();
    expected.as_object_mut().unwrap().remove("required");
    expected["properties"][INPUT_ARTIFACT] =
        json!({ "type": "string", "description": INPUT_ARTIFACT_DESCRIPTION });
    assert_eq!(shown, expected);
    let artifact_alone = json!({ INPUT_ARTIFACT: "data.csv" });
    for given in [json!({}), artifact_alone, json!({ "plan": "paid" })] {
        assert!(SchemaCache::default().check_against_schema(&shown, &given).is_empty(), "{given}");
    }
}

/// Proves I4 for inputs whose required parameters depend on each other.
#[test]
fn what_requires_parameters_in_other_words_is_optional_too() {
    let name_or_rows = json!([{ "required": ["name"] }, { "required": ["rows"] }]);
    let table = [
        json!({ "type": "object", "properties": { "name": {} }, "anyOf": name_or_rows }),
        json!({ "type": "object", "properties": { "name": {} }, "oneOf": name_or_rows }),
        json!({ "type": "object", "allOf": [{ "required": ["name"] }], "minProperties": 1 }),
        json!({ "type": "object", "dependentRequired": { "a": ["b"] }, "if": {}, "then": { "required": ["c"] } }),
        json!({ "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "a" } }, "required": ["kind"] },
            { "type": "object", "properties": { "kind": { "const": "b" } }, "required": ["kind"],
              "additionalProperties": false },
        ] }),
        json!({ "$ref": "#/$defs/Input", "$defs": {
            "Input": { "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"] } } }),
        json!({}),
        json!(true),
    ];
    for schema in table {
        let shown = WorkflowArguments::new(&schema).schema_for_model();
        assert_eq!(shown["type"], "object", "{shown}");
        assert!(shown["properties"][INPUT_ARTIFACT].is_object(), "{shown}");
        for given in [json!({}), json!({ INPUT_ARTIFACT: "data.csv" })] {
            assert!(
                SchemaCache::default().check_against_schema(&shown, &given).is_empty(),
                "{given} does not fit {shown}"
            );
        }
    }
    let kinds = json!({ "oneOf": [{ "properties": { "kind": { "const": "a" } }, "required": ["kind"] }] });
    let shown = WorkflowArguments::new(&kinds).schema_for_model();
    assert_eq!(
        shown["anyOf"],
        json!([{ "properties": { "kind": { "const": "a" } } }]),
        "choices stay visible"
    );
}

/// Proves I5 and I6: the artifact wins, the other parameters are named, and parameters are checked strictly.
#[test]
fn the_mode_of_input() {
    let fine = json!({ "name": "John Doe", "plan": "free" });
    let with = |key: &str, value: Value| {
        let mut fine = fine.clone();
        fine[key] = value;
        fine
    };
    let parameters = |value: &Value| Ok(WorkflowInput::Parameters(value.clone()));
    let artifact = |filename: &str, ignored: &[&str]| {
        let ignored = ignored.iter().map(|name| (*name).to_owned()).collect();
        Ok(WorkflowInput::Artifact { filename: filename.to_owned(), ignored })
    };
    let table = [
        (fine.clone(), parameters(&fine)),
        (with(INPUT_ARTIFACT, json!("")), parameters(&fine)),
        (with(INPUT_ARTIFACT, json!("  ")), parameters(&fine)),
        (with(INPUT_ARTIFACT, json!(null)), parameters(&fine)),
        (with("seats", json!(null)), parameters(&fine)),
        (with("note", json!(null)), parameters(&with("note", json!(null)))),
        (json!({ INPUT_ARTIFACT: " data.csv " }), artifact("data.csv", &[])),
        (with(INPUT_ARTIFACT, json!("data.csv")), artifact("data.csv", &["name", "plan"])),
        (json!({ INPUT_ARTIFACT: "data.csv", "seats": 99, "plan": null }), artifact("data.csv", &["seats"])),
    ];
    for (given, expected) in table {
        assert_eq!(parse(&onboarding(), given.clone()), expected, "{given}");
    }
}

/// Proves I6: every missing or wrong field is named, and neither way of input is checked like `{}`.
#[test]
fn every_wrong_parameter_is_named() {
    let schema = onboarding();
    let table: [(Value, &[&str]); 7] = [
        (json!({}), &["/name required", "/plan required"]),
        (json!(null), &["/name required", "/plan required"]),
        (json!({ "name": null, "plan": null }), &["/name required", "/plan required"]),
        (
            json!({ "name": "J", "plan": "gold", "born": "soon", "seats": 11, "address": {}, "other": 1 }),
            &[
                "/address/city required",
                "/born format",
                "/name minLength",
                "/other additionalProperties",
                "/plan enum",
                "/seats maximum",
            ],
        ),
        (
            json!({ "name": "John", "plan": "free", "address": { "city": "x" }, "seats": "2" }),
            &["/seats type"],
        ),
        (json!("John"), &[" type"]),
        (json!({ INPUT_ARTIFACT: 7 }), &["/input_artifact type"]),
    ];
    for (given, expected) in table {
        assert_eq!(problems(&schema, given.clone()), expected, "{given}");
    }
}

/// A peer that has a parameter of that name gets parameter mode only.
#[test]
fn an_own_parameter_keeps_its_name() {
    let schema = json!({ "type": "object", "properties": { INPUT_ARTIFACT: { "type": "integer" } } });
    assert_eq!(WorkflowArguments::new(&schema).schema_for_model(), schema);
    let given = json!({ INPUT_ARTIFACT: 7 });
    assert_eq!(parse(&schema, given.clone()), Ok(WorkflowInput::Parameters(given)));
    assert_eq!(problems(&schema, json!({ INPUT_ARTIFACT: "data.csv" })), ["/input_artifact type"]);
}

/// An input that is not an object is one parameter.
#[test]
fn other_inputs_are_wrapped() {
    let schema = json!({ "type": "array", "items": { "type": "integer" } });
    let shown = WorkflowArguments::new(&schema).schema_for_model();
    assert_eq!(shown["properties"]["input"], schema);
    assert_eq!(shown.get("required"), None);
    assert_eq!(parse(&schema, json!({ "input": [1] })), Ok(WorkflowInput::Parameters(json!([1]))));
    assert_eq!(problems(&schema, json!({})), ["/input required"]);
    assert_eq!(problems(&schema, json!({ "input": ["x"] })), ["/input/0 type"]);
    let artifact = WorkflowInput::Artifact { filename: "a.json".to_owned(), ignored: Vec::new() };
    assert_eq!(parse(&schema, json!({ INPUT_ARTIFACT: "a.json" })), Ok(artifact));
}

/// A null in a choice at the root has no path of its own.
#[test]
fn nulls_beside_a_choice_count_as_not_given() {
    let schema = json!({ "type": "object", "oneOf": [
        { "properties": { "name": { "type": "string" }, "rows": false }, "required": ["name"] },
        { "properties": { "rows": { "type": "array" }, "name": false }, "required": ["rows"] },
    ] });
    let given = json!({ "name": "John", "rows": null });
    assert_eq!(parse(&schema, given), Ok(WorkflowInput::Parameters(json!({ "name": "John" }))));
}
