//! Forms made from the schemas of the bundled programs and from awkward ones.

use serde_json::json;

use super::*;

fn only(form: SchemaForm) -> Vec<SchemaFormField> {
    match form {
        SchemaForm::Fields(fields) => fields,
        SchemaForm::Single(field) => vec![field],
        SchemaForm::Json => panic!("no form"),
    }
}

/// Proves L6: the schema that a question carries is enough to ask for its answer.
#[test]
fn an_object_becomes_fields_the_required_ones_first_in_their_order() {
    let fields = only(SchemaForm::from_schema(&json!({
        "type": "object",
        "properties": {
            "note": { "type": ["string", "null"] },
            "amount": { "type": "number", "exclusiveMinimum": 0, "description": "How much to invest." },
            "confirmed": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["confirmed", "amount"],
    })));
    let shown: Vec<(&str, &FormFieldKind, bool)> =
        fields.iter().map(|field| (field.name.as_str(), &field.kind, field.required)).collect();
    let expected = [
        ("confirmed", &FormFieldKind::Boolean, true),
        ("amount", &FormFieldKind::Number, true),
        ("note", &FormFieldKind::Text, false),
        ("tags", &FormFieldKind::Json, false),
    ];
    assert_eq!(shown, expected);
    assert_eq!(fields[1].render_field_prompt(), "  amount (number, more than 0) How much to invest.: ");
    assert_eq!(fields[2].render_field_prompt(), "  note (text, empty to leave out): ");
}

/// An empty line means the known value, but never a yes.
#[test]
fn known_values_and_defaults_are_offered() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "string", "default": "x" },
            "b": { "type": "integer" },
            "c": { "type": "boolean", "default": true },
            "d": { "enum": ["p", "q"] },
            "e": { "type": "string", "default": "y" },
        },
        "required": ["a", "b", "c", "d"],
    });
    let Value::Object(known) = json!({ "b": 3, "c": true, "d": "r", "e": "z" }) else { panic!() };
    let fields = only(SchemaForm::from_schema_with_defaults(&schema, &known));
    let prompts: Vec<String> = fields.iter().map(SchemaFormField::render_field_prompt).collect();
    let expected = [
        "  a (text) [x]: ",
        "  b (whole number) [3]: ",
        "  c (y/n, default true): ",
        "  d (p | q): ",
        "  e (text, default y, empty to leave out): ",
    ];
    assert_eq!(prompts, expected);
    assert_eq!(fields[1].parse_typed_field_value(""), Ok(Some(json!(3))));
    assert_eq!(fields[1].parse_typed_field_value("4"), Ok(Some(json!(4))));
    assert!(fields[2].parse_typed_field_value("").is_err());
    assert_eq!(fields[4].parse_typed_field_value(""), Ok(None));
}

#[test]
fn a_skeleton_shows_what_must_be_filled_in() {
    let schema = json!({
        "type": "object",
        "properties": { "amount": { "type": "number" }, "note": { "type": "string" }, "ok": { "type": "boolean" } },
        "required": ["amount", "ok"],
    });
    assert_eq!(render_answer_template(&schema), r#"{"amount": NUMBER, "ok": true|false}"#);
    assert_eq!(render_answer_template(&json!({ "type": "string" })), "\"TEXT\"");
    assert_eq!(render_answer_template(&json!({})), "JSON");
}

#[test]
fn lines_are_read_as_the_type_of_their_field() {
    let read =
        |schema: Value, line: &str| only(SchemaForm::from_schema(&schema))[0].parse_typed_field_value(line);
    assert_eq!(read(json!({ "type": "number" }), " 1.5 "), Ok(Some(json!(1.5))));
    assert!(read(json!({ "type": "number" }), "much").is_err());
    assert_eq!(read(json!({ "type": "boolean" }), "Yes"), Ok(Some(json!(true))));
    assert!(read(json!({ "type": "boolean" }), "maybe").is_err());
    assert_eq!(read(json!({ "type": "string" }), "42"), Ok(Some(json!("42"))));
    assert!(read(json!({ "type": "string" }), "").is_err());
    assert_eq!(read(json!({ "enum": ["echo", 2] }), "2"), Ok(Some(json!(2))));
    assert!(read(json!({ "enum": ["echo"] }), "review").is_err());
}

#[test]
fn choices_are_found_wherever_a_generator_puts_them() {
    let described = json!({ "oneOf": [{ "const": "a", "description": "first" }, { "const": "b" }] });
    let optional = json!({ "anyOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null" }] });
    for schema in [described, optional, json!({ "type": ["string", "null"], "enum": ["a", "b", null] })] {
        let fields = only(SchemaForm::from_schema(&schema));
        assert_eq!(fields[0].kind, FormFieldKind::Choice(vec![json!("a"), json!("b")]), "{schema}");
    }
}

#[test]
fn what_has_no_form_is_asked_for_as_json() {
    for schema in [
        json!(true),
        json!({}),
        json!({ "type": "array" }),
        json!({ "oneOf": [{ "type": "string" }, { "type": "number" }] }),
        json!({ "type": "object", "properties": { "a": {} }, "anyOf": [{ "required": ["a"] }] }),
    ] {
        assert_eq!(SchemaForm::from_schema(&schema), SchemaForm::Json, "{schema}");
    }
}

/// A question from an MCP server can be declined, and is still a form.
#[test]
fn what_can_be_declined_is_asked_field_by_field() {
    let schema = json!({
        "type": "object",
        "properties": { "city": { "type": "string" }, "decline": { "type": "boolean" } },
        "if": { "not": { "required": ["decline"] } },
        "then": { "required": ["city"] },
    });
    let SchemaForm::Fields(fields) = SchemaForm::from_schema(&schema) else { panic!("fields") };
    let required: Vec<_> = fields.iter().map(|field| (&*field.name, field.required)).collect();
    assert_eq!(required, [("city", true), ("decline", false)]);
    let mut across = schema;
    across["then"]["properties"] = json!({ "city": { "minLength": 2 } });
    assert_eq!(SchemaForm::from_schema(&across), SchemaForm::Json);
}
