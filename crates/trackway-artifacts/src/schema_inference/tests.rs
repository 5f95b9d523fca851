//! Values and their schemas.

use super::*;

#[test]
fn schemas_are_inferred() {
    let table = [
        (json!(null), json!({"type": "null"})),
        (json!(1.5), json!({"type": "number"})),
        (json!([]), json!({"type": "array"})),
        (
            json!({"a": 1, "b": "x"}),
            json!({
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
                "required": ["a", "b"],
            }),
        ),
        (
            json!([{"a": 1, "b": [1]}, {"a": 2.5, "b": ["x"]}, {"a": null}]),
            json!({
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "a": {"type": ["null", "number"]},
                        "b": {"type": "array", "items": {"type": ["integer", "string"]}},
                    },
                    "required": ["a"],
                },
            }),
        ),
        (
            json!([1, "x", true]),
            json!({"type": "array", "items": {"type": ["boolean", "integer", "string"]}}),
        ),
        (json!([{"a": 1}, 2]), json!({"type": "array", "items": {"type": ["integer", "object"]}})),
    ];
    for (value, expected) in table {
        assert_eq!(infer_schema(&value), expected, "{value}");
    }
}

/// Proves X5: a large or deep value has a small schema.
#[test]
fn schemas_are_bounded() {
    let deep = (0..90).fold(json!(1), |inner, _| json!([inner]));
    assert!(infer_schema(&deep).to_string().len() < 500);
    let wide: Map<String, Value> = (0..10_000).map(|number| (number.to_string(), json!(1))).collect();
    assert_eq!(infer_schema(&Value::Object(wide)), json!({"type": "object"}));
    let long = Value::Array(vec![json!(1); 1_000]);
    assert_eq!(infer_schema(&long), json!({"type": "array"}));
}
