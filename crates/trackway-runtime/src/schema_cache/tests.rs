//! What is wrong with a value, reported so that it can be fixed.

use serde_json::{Value, json};
use trackway_engine::SchemaChecker;

use super::*;
use crate::{Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramRegistry, RegistryError, Stage};

fn form() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["walletAddress", "amount"],
        "properties": {"walletAddress": {"type": "string"}, "amount": {"type": "number", "exclusiveMinimum": 0}}})
}

fn sorted_errors(value: &Value) -> Vec<(String, String, Value, Option<Value>)> {
    let mut problems = SchemaCache::default().check_against_schema(&form(), value);
    problems.sort_by(|a, b| a.path.cmp(&b.path));
    problems.into_iter().map(|p| (p.path, p.code, p.expected, p.got)).collect()
}

/// Proves L14, X5.
#[test]
fn each_problem_names_the_place_the_rule_and_what_stood_there() {
    let row = |path: &str, code: &str, expected: Value, got: Option<Value>| {
        (path.to_owned(), code.to_owned(), expected, got)
    };
    assert_eq!(sorted_errors(&json!({"walletAddress": "0x1", "amount": 1})), vec![]);
    assert_eq!(
        sorted_errors(&json!({"amount": 0})),
        vec![
            row("/amount", "exclusiveMinimum", json!({"exclusiveMinimum": 0}), Some(json!(0))),
            row("/walletAddress", "required", json!({"type": "string"}), None),
        ]
    );
    assert_eq!(
        sorted_errors(&json!({"walletAddress": 7, "amount": 1, "a/b": 2})),
        vec![
            row("/a~1b", "additionalProperties", json!("absent"), Some(json!(2))),
            row("/walletAddress", "type", json!("string"), Some(json!(7))),
        ]
    );
    assert_eq!(sorted_errors(&json!("x")), vec![row("", "type", json!("object"), Some(json!("x")))]);
}

/// Proves X5.
#[test]
fn schemas_are_bounded_and_a_bad_one_is_a_problem() {
    let book = SchemaCache::default();
    let large = json!({"description": "x".repeat(SCHEMA_BYTES_MAX)});
    assert!(matches!(book.compile_schema(&large), Err(SchemaError::TooLarge { .. })));
    assert!(matches!(book.compile_schema(&json!({"type": "thing"})), Err(SchemaError::Invalid { .. })));
    let problems = book.check_against_schema(&json!({"type": "thing"}), &json!(1));
    assert_eq!(problems[0].code, "schema");
}

/// Does nothing with an input of this schema.
#[derive(Debug)]
struct Idle(ProgramInfo);

impl Idle {
    fn with(input_schema: Value) -> Arc<Self> {
        Arc::new(Self(ProgramInfo {
            name: "idle".to_owned(),
            kind: ProgramKind::Workflow,
            version: "1".to_owned(),
            description: String::new(),
            tags: vec![],
            examples: vec![],
            skills: vec![],
            input_schema,
            output_schema: Value::Null,
            input_modes: vec![],
            output_modes: vec![],
            extensions: vec![],
            deadline: None,
        }))
    }
}

impl Program for Idle {
    fn info(&self) -> &ProgramInfo {
        &self.0
    }

    fn run(&self, _: Stage, input: Value) -> ProgramFuture {
        Box::pin(async { Ok(input) })
    }
}

/// Issue 11, N4: the schema of a workflow is compiled when an input is first checked against it. A schema
/// beyond the limits is refused before.
#[test]
fn schemas_are_compiled_at_their_first_use() {
    let registry = ProgramRegistry::new();
    let schema = json!({"type": "object", "required": ["a"]});
    registry.add_program(Idle::with(schema.clone())).unwrap();
    assert_eq!(registry.schemas.lock_validators().len(), 0);
    assert_eq!(registry.schemas.check_against_schema(&schema, &json!({})).len(), 1);
    assert_eq!(registry.schemas.lock_validators().len(), 1);
    let large = json!({"description": "x".repeat(SCHEMA_BYTES_MAX)});
    let refused = ProgramRegistry::new().add_program(Idle::with(large));
    assert!(matches!(refused, Err(RegistryError::InvalidSchema { .. })), "{refused:?}");
}

/// Proves X5: a schema cannot make the server fetch anything.
#[test]
fn references_to_other_documents_are_refused() {
    let remote = json!({"$ref": "http://127.0.0.1:1/schema.json"});
    assert!(matches!(SchemaCache::default().compile_schema(&remote), Err(SchemaError::Invalid { .. })));
}

/// Proves X5: if an object may have no property at all, the errors name those that it has.
#[test]
fn unknown_property_is_named() {
    let empty = json!({ "type": "object", "additionalProperties": false });
    let outer = json!({ "type": "object", "properties": { "inner": empty } });
    let told = |schema: &Value, value: &Value| {
        let problems = SchemaCache::default().check_against_schema(schema, value);
        problems.into_iter().map(|p| (p.path, p.code, p.got)).collect::<Vec<_>>()
    };
    let row = |path: &str, got: Value| (path.to_owned(), "additionalProperties".to_owned(), Some(got));
    assert_eq!(told(&empty, &json!({ "a": 1, "b": {} })), [row("/a", json!(1)), row("/b", json!({}))]);
    assert_eq!(told(&outer, &json!({ "inner": { "c": true } })), [row("/inner/c", json!(true))]);
    assert_eq!(told(&empty, &json!({})), []);
}

/// Proves L14, X5: however much is wrong, the answer stays small.
#[test]
fn a_large_wrong_value_gives_a_small_list_of_problems() {
    const LIST_BYTES_MAX: usize = 24 * 1024;
    let closed = json!({"type": "object", "additionalProperties": false,
        "properties": {"list": {"type": "array", "items": {"type": "integer"}},
                       "text": {"type": "string", "maxLength": 3}, "flag": {"type": "boolean"}}});
    let empty = json!({"type": "object", "additionalProperties": false});
    let open = json!({"type": "object", "unevaluatedProperties": false});
    let choice = json!({"properties": {"list": {"items": {"anyOf": [{"type": "null"}, closed]}}}});
    let many = Value::Object((0..100_000).map(|at| (format!("k{at}"), json!(at))).collect());
    let long = "x".repeat(1_000_000);
    for (schema, value, code, count) in [
        (&closed, many.clone(), "additionalProperties", 32),
        (&empty, many.clone(), "additionalProperties", 32),
        (&open, many, "additionalProperties", 32),
        (&closed, json!({ "list": vec!["x"; 100_000] }), "type", 1),
        (&closed, json!({ "text": long }), "maxLength", 1),
        (&closed, json!({ "flag": long }), "type", 1),
        (&closed, json!({ long.clone(): 1 }), "additionalProperties", 1),
        (&choice, json!({ "list": vec![json!({"flag": long}); 3] }), "anyOf", 3),
        (&choice, json!({ "list": vec![1; 100_000] }), "schema", 1),
    ] {
        let problems = SchemaCache::default().check_against_schema(schema, &value);
        let told = json!(problems).to_string();
        assert_eq!((problems[0].code.as_str(), problems.len()), (code, count), "{told:.300}");
        assert!(told.len() <= LIST_BYTES_MAX, "{code}: {} bytes", told.len());
    }
}

/// A tree in which every level has one of three branches by that keyword, with some more rules.
fn forms(keyword: &str, more: &Value) -> Value {
    let form = |name: &str| {
        let mut form = more.clone();
        form["type"] = json!("object");
        form["required"] = json!([name]);
        form["properties"] = json!({ name: {}, "a": {"$ref": "#/$defs/n"} });
        form
    };
    let forms = json!([form("x"), form("y"), form("z"), {"type": "string"}]);
    json!({"$ref": "#/$defs/n", "$defs": {"n": { keyword: forms }}})
}

/// Proves X5: the work grows with the size of the value and not exponentially with its depth. A test that
/// counted wrongly would not end.
#[test]
fn forms_that_refer_to_each_other_are_checked_at_any_depth() {
    let nested = |leaf: Value, level: &dyn Fn(Value) -> Value| (0..60).fold(leaf, |value, _| level(value));
    let closed = json!({"unevaluatedProperties": false});
    for (keyword, more) in
        [("anyOf", json!({})), ("oneOf", json!({})), ("anyOf", closed.clone()), ("oneOf", closed)]
    {
        let schema = forms(keyword, &more);
        let book = SchemaCache::default();
        let wrong = nested(json!(5), &|inner| json!({ "a": inner }));
        let problems = book.check_against_schema(&schema, &wrong);
        assert_eq!((problems.len(), problems[0].code.as_str()), (1, "schema"), "{keyword}");
        let right = nested(json!("leaf"), &|inner| json!({ "z": 1, "a": inner }));
        assert_eq!(book.check_against_schema(&schema, &right), [], "{keyword}");
    }
}

/// Proves X5: a schema that doubles with each reference is refused before it is compiled.
#[test]
fn a_schema_that_doubles_with_each_reference_is_refused() {
    let mut definitions = json!({"d40": {"type": "string"}});
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions[format!("d{level}")] = json!({"allOf": [next, next]});
    }
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    assert!(matches!(SchemaCache::default().compile_schema(&schema), Err(SchemaError::TooManyPaths)));
}

/// Proves L14: a known format is checked; an unknown one is ignored.
#[test]
fn known_formats_are_checked() {
    for (format, good, bad) in [
        ("ipv4", "127.0.0.1", Some("home")),
        ("uuid", "0191e7a4-3b1f-7c5e-9a52-2f8f6d3c1b00", Some("17")),
        ("date", "2026-11-16", Some("2026-13-16")),
        ("date-time", "2026-11-16T14:00:00Z", Some("yesterday")),
        ("email", "a@example.org", Some("nobody")),
        ("wallet", "anything", None),
    ] {
        let schema = json!({"type": "string", "format": format});
        let codes = |text: &str| {
            let problems = SchemaCache::default().check_against_schema(&schema, &json!(text));
            problems.into_iter().map(|problem| problem.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(good), [] as [&str; 0], "{format}");
        if let Some(bad) = bad {
            assert_eq!(codes(bad), ["format"], "{format}");
        }
    }
}
