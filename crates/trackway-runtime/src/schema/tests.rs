//! What is wrong with a value, told so that it can be mended.

use serde_json::{Value, json};
use trackway_engine::Schemas;

use super::*;

fn form() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["walletAddress", "amount"],
        "properties": {"walletAddress": {"type": "string"}, "amount": {"type": "number", "exclusiveMinimum": 0}}})
}

fn told(value: &Value) -> Vec<(String, String, Value, Option<Value>)> {
    let mut problems = SchemaBook::default().check(&form(), value);
    problems.sort_by(|a, b| a.path.cmp(&b.path));
    problems.into_iter().map(|p| (p.path, p.code, p.expected, p.got)).collect()
}

/// Proves L14, X5.
#[test]
fn each_problem_names_the_place_the_rule_and_what_stood_there() {
    let row = |path: &str, code: &str, expected: Value, got: Option<Value>| {
        (path.to_owned(), code.to_owned(), expected, got)
    };
    assert_eq!(told(&json!({"walletAddress": "0x1", "amount": 1})), vec![]);
    assert_eq!(
        told(&json!({"amount": 0})),
        vec![
            row("/amount", "exclusiveMinimum", json!({"exclusiveMinimum": 0}), Some(json!(0))),
            row("/walletAddress", "required", json!({"type": "string"}), None),
        ]
    );
    assert_eq!(
        told(&json!({"walletAddress": 7, "amount": 1, "a/b": 2})),
        vec![
            row("/a~1b", "additionalProperties", json!("absent"), Some(json!(2))),
            row("/walletAddress", "type", json!("string"), Some(json!(7))),
        ]
    );
    assert_eq!(told(&json!("x")), vec![row("", "type", json!("object"), Some(json!("x")))]);
}

/// Proves X5.
#[test]
fn schemas_are_bounded_and_a_bad_one_is_a_problem() {
    let book = SchemaBook::default();
    let large = json!({"description": "x".repeat(SCHEMA_BYTES_MAX)});
    assert!(matches!(book.learn(&large), Err(SchemaError::TooLarge { .. })));
    assert!(matches!(book.learn(&json!({"type": "thing"})), Err(SchemaError::Invalid { .. })));
    let problems = book.check(&json!({"type": "thing"}), &json!(1));
    assert_eq!(problems[0].code, "schema");
}

/// Proves X5: a schema cannot make the server fetch anything.
#[test]
fn references_to_other_documents_are_refused() {
    let remote = json!({"$ref": "http://127.0.0.1:1/schema.json"});
    assert!(matches!(SchemaBook::default().learn(&remote), Err(SchemaError::Invalid { .. })));
}

/// Proves X5: an object that may have no property at all names those that it has.
#[test]
fn a_property_where_none_is_known_is_named() {
    let empty = json!({ "type": "object", "additionalProperties": false });
    let outer = json!({ "type": "object", "properties": { "inner": empty } });
    let told = |schema: &Value, value: &Value| {
        let problems = SchemaBook::default().check(schema, value);
        problems.into_iter().map(|p| (p.path, p.code, p.got)).collect::<Vec<_>>()
    };
    let row =
        |path: &str, got: Value| (path.to_owned(), "additionalProperties".to_owned(), Some(got));
    assert_eq!(
        told(&empty, &json!({ "a": 1, "b": {} })),
        [row("/a", json!(1)), row("/b", json!({}))]
    );
    assert_eq!(told(&outer, &json!({ "inner": { "c": true } })), [row("/inner/c", json!(true))]);
    assert_eq!(told(&empty, &json!({})), []);
}
