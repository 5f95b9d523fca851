//! Which parts become an input, and which problems the others give.

use serde_json::{Value, json};
use trackway_domain::{File, FileSource, Part};

use super::*;

fn object(required: &[&str]) -> Value {
    json!({"type": "object", "required": required, "properties": {
        "text": {"type": "string"}, "chunks": {"type": "integer"}}})
}

fn file() -> Part {
    Part::file(File {
        name: None,
        mime_type: None,
        source: FileSource::Uri("https://example.org/a.csv".into()),
    })
}

/// Proves L14, L2: the first data part is the input, whatever parts are around it.
#[test]
fn the_first_data_part_is_the_input() {
    let first = Part::data(json!({"text": "x"}));
    let second = Part::data(json!({"text": "y"}));
    for parts in [
        vec![first.clone()],
        vec![Part::text("a"), first.clone()],
        vec![file(), Part::text("a"), first, second],
    ] {
        let input = input_from_parts(&object(&["text"]), &parts);
        assert_eq!(input, Ok(json!({"text": "x"})));
    }
    let null = input_from_parts(&object(&[]), &[Part::data(Value::Null)]);
    assert_eq!(null, Ok(Value::Null), "judging it is the schema's affair");
}

/// Proves L14: text fills the one string that a schema requires; several texts become lines.
#[test]
fn text_fills_one_required_string() {
    let texts = [Part::text("a"), file(), Part::text("b")];
    for (schema, input) in
        [(object(&["text"]), json!({"text": "a\nb"})), (json!({"type": "string"}), json!("a\nb"))]
    {
        assert_eq!(input_from_parts(&schema, &texts), Ok(input));
    }
}

/// Proves L14: a client that can only send text can approve, send a number, or send the object.
#[test]
fn text_stands_for_one_plain_value() {
    let approved = json!({"type": "object", "required": ["approved"], "properties": {
        "approved": {"type": "boolean"}, "reason": {"type": "string"}}});
    for (schema, text, input) in [
        (approved.clone(), "yes", json!({"approved": true})),
        (approved.clone(), " No. ", json!({"approved": false})),
        (approved, r#"{"approved": true, "reason": "x"}"#, json!({"approved": true, "reason": "x"})),
        (json!({"type": "boolean"}), "true", json!(true)),
        (object(&["chunks"]), "3", json!({"chunks": 3})),
        (json!({"type": "number"}), "2.5\n", json!(2.5)),
        (object(&["text"]), "5", json!({"text": "5"})),
        (object(&["text", "chunks"]), r#"{"text": "a"}"#, json!({"text": "a"})),
        (
            json!({"type": "object", "properties": {"city": {"type": "string"}},
                "if": {"not": {"required": ["decline"]}}, "then": {"required": ["city"]}}),
            "Bonn",
            json!({"city": "Bonn"}),
        ),
    ] {
        assert_eq!(input_from_parts(&schema, &[Part::text(text)]), Ok(input), "{text}");
    }
}

/// Proves L14: the JSON of an object that the schema requires is that object, even if the schema
/// also accepts one string. Other text that happens to be JSON stays text.
#[test]
fn text_that_is_the_object_asked_for_is_read_as_json() {
    let wallet = json!({"type": "object", "required": ["walletAddress"], "properties": {
        "walletAddress": {"type": "string"}, "chainId": {"type": "integer"}}});
    let declinable = json!({"type": "object",
        "properties": {"city": {"type": "string"}, "decline": {"type": "boolean"}},
        "if": {"not": {"required": ["decline"]}}, "then": {"required": ["city"]}});
    for (schema, text, input) in [
        (
            wallet.clone(),
            r#"{"walletAddress":"0x1","chainId":1.0}"#,
            json!({"walletAddress": "0x1", "chainId": 1}),
        ),
        (wallet.clone(), r#" {"walletAddress":"0x1"} "#, json!({"walletAddress": "0x1"})),
        // The schema refuses unknown fields; they do not turn an object into text.
        (wallet.clone(), r#"{"walletAddress":"0x1","x":1}"#, json!({"walletAddress": "0x1", "x": 1})),
        (wallet.clone(), r#"{"chainId":1}"#, json!({"walletAddress": r#"{"chainId":1}"#})),
        (wallet.clone(), r#"{"walletAddress":"#, json!({"walletAddress": r#"{"walletAddress":"#})),
        (wallet.clone(), r#"["0x1"]"#, json!({"walletAddress": r#"["0x1"]"#})),
        (wallet, "0x1", json!({"walletAddress": "0x1"})),
        (declinable.clone(), r#"{"decline":true}"#, json!({"decline": true})),
        (declinable, "{}", json!({"city": "{}"})),
        (json!({"type": "string"}), r#"{"a":1}"#, json!(r#"{"a":1}"#)),
    ] {
        assert_eq!(input_from_parts(&schema, &[Part::text(text)]), Ok(input), "{text}");
    }
}

/// Proves L14: integral numbers are integers however they are written.
#[test]
fn integral_numbers_of_data_and_text_are_integers() {
    for (schema, part, input) in [
        (object(&["chunks"]), Part::data(json!({"chunks": 40.0})), r#"{"chunks":40}"#),
        (object(&["chunks"]), Part::text("4e1"), r#"{"chunks":40}"#),
        (json!({"type": "integer"}), Part::text("2.0"), "2"),
        (json!(true), Part::data(json!([2.5, 1e3])), "[2.5,1000]"),
    ] {
        assert_eq!(input_from_parts(&schema, &[part]).unwrap().to_string(), input);
    }
}

/// Proves L14: a problem names what was expected, what was sent and what to send.
#[test]
fn anything_else_is_a_problem_that_says_what_to_send() {
    let text = || vec![Part::text("a")];
    for (schema, parts, expected, got) in [
        (object(&["chunks"]), text(), "object", Some(json!("a"))),
        (object(&["text", "chunks"]), text(), "object", Some(json!("a"))),
        (object(&[]), text(), "object", Some(json!("a"))),
        (json!({"type": "number"}), text(), "number", Some(json!("a"))),
        (json!(false), text(), "object", Some(json!("a"))),
        (object(&["text"]), vec![], "object", None),
        (object(&["text"]), vec![file()], "object", None),
    ] {
        let problem = input_from_parts(&schema, &parts).unwrap_err();
        assert_eq!((problem.path.as_str(), problem.code.as_str()), ("", "type"));
        assert_eq!(problem.expected, expected, "for {schema}");
        assert_eq!(problem.got, got, "for {schema}");
        assert!(problem.hint.unwrap().contains("data"));
    }
}

/// Proves L14: a workflow without an input schema accepts data, text, and files alone.
#[test]
fn a_schema_that_asks_for_nothing_takes_any_message() {
    let titled = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Any"});
    for schema in [json!(true), json!({}), titled] {
        for (parts, input) in [
            (vec![Part::text("a"), file(), Part::text("b")], json!("a\nb")),
            (vec![Part::text("a"), Part::data(json!([1]))], json!([1])),
            (vec![file()], Value::Null),
        ] {
            assert_eq!(input_from_parts(&schema, &parts), Ok(input), "for {schema}");
        }
    }
}
