//! Schemas in one line.

use serde_json::json;

use super::*;

/// Proves T7: the text has the form of a schema, in less than the schema itself.
#[test]
fn a_schema_is_one_short_line() {
    let rows = [
        (json!({}), "anything"),
        (json!({"type": "string"}), "string"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"enum": ["continue", "stop"]}), r#""continue" | "stop""#),
        (json!({"const": 1}), "1"),
        (json!({"type": "string", "minLength": 1, "maxLength": 64}), "string (minLength 1, maxLength 64)"),
        (
            json!({"type": "object", "required": ["a"], "properties": {
                "a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "boolean"},
            }}),
            "{ a: [integer, …], b?: boolean }",
        ),
        (json!({"required": ["x"], "additionalProperties": false}), "{ x: anything, nothing else }"),
        (
            json!({"type": "array", "contains": {"properties": {"kind": {"const": "k"}}, "required": ["kind"]}}),
            r#"[… { kind: "k" } …]"#,
        ),
        (
            json!({"description": "How well", "anyOf": [{"enum": ["low"]}, {"type": "object"}]}),
            r#""low" | object /* How well */"#,
        ),
        (json!({"$ref": "#/$defs/x"}), r##"{"$ref":"#/$defs/x"}"##),
    ];
    for (schema, expected) in rows {
        assert_eq!(summarize_schema(&schema), expected, "{schema}");
        assert!(summarize_schema(&schema).len() <= schema.to_string().len().max("anything".len()));
    }
}

/// Proves T7: what the example shows is not repeated.
#[test]
fn complete_example_needs_no_schema() {
    let schema = json!({"type": "object", "required": ["n", "list"], "properties": {
        "n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "string"}},
    }});
    assert!(!schema_adds_to_example(&schema, &json!({"n": 1, "list": ["x"]})));
    assert!(schema_adds_to_example(&schema, &json!({"n": 1, "list": []})));
    let mut optional = schema.clone();
    optional["required"] = json!(["n"]);
    assert!(schema_adds_to_example(&optional, &json!({"n": 1, "list": ["x"]})));
    let mut bounded = schema;
    bounded["properties"]["n"]["minimum"] = json!(1);
    assert!(schema_adds_to_example(&bounded, &json!({"n": 1, "list": ["x"]})));
    assert!(!schema_adds_to_example(&json!({}), &json!(1)));
}

/// A deeply nested schema is cut.
#[test]
fn a_deep_schema_is_cut() {
    let mut schema = json!({"type": "string"});
    for _ in 0..100 {
        schema = json!({"type": "array", "items": schema});
    }
    assert!(summarize_schema(&schema).contains('…') && summarize_schema(&schema).len() < 100);
}
