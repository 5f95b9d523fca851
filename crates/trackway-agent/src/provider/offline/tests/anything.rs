//! Any input from people and tools gets an answer, quickly.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{answer_by_rules, model, request, user};
use crate::conversation::{ContentPiece, ConversationEntry, ModelRequest};

/// Text that mixes meaningful and meaningless words.
fn arbitrary_message() -> impl Strategy<Value = String> {
    let marks = prop::sample::select(vec![
        "/run ",
        "/help ",
        "echo",
        " text=",
        "coats=",
        "paint_wall ",
        " ",
        "\"",
        "'",
        "{",
        "}",
        "[",
        ":",
        ",",
        "=",
        "\\",
        "\n",
        "{\"workflow\":\"echo\"}",
        "{\"text\":1}",
        "null",
        "red",
        "1e999",
        "-0",
        "0x1",
        "wallet ",
        "ü",
        "🦀",
        "`",
        "```json",
    ]);
    let pieces = prop::collection::vec(prop_oneof![marks.prop_map(str::to_owned), ".{0,4}"], 0..12);
    pieces.prop_map(|pieces| pieces.concat())
}

/// Valid schemas, and some invalid ones.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "type": "string", "minLength": 30, "maxLength": 2 })),
        Just(json!({ "type": "integer", "minimum": 1e300, "multipleOf": 0.0 })),
        Just(json!({ "type": ["number", "null"], "exclusiveMinimum": -1 })),
        Just(json!({ "enum": [] })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "$ref": "#/nowhere" })),
        Just(json!({ "type": "array", "minItems": 1e18 as u64 })),
        Just(json!(true)),
        Just(json!([1])),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let fields = prop::collection::btree_map("[a-c]", inner.clone(), 0..3);
        prop_oneof![
            fields.prop_map(|fields| {
                let required: Vec<&String> = fields.keys().collect();
                json!({ "type": "object", "properties": fields, "required": required })
            }),
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items, "minItems": 2 })),
            inner.prop_map(|branch| json!({ "anyOf": [branch] })),
        ]
    })
}

proptest! {
    #[test]
    fn every_message_has_an_answer(messages in prop::collection::vec(arbitrary_message(), 1..4)) {
        let mut entries = Vec::new();
        for message in &messages {
            entries.push(user(message));
            let answer = answer_by_rules(&request(entries.clone()));
            prop_assert!(!answer.text.is_empty() || answer.calls.len() == 1);
            entries.push(model(&answer.text, Vec::new()));
        }
    }

    #[test]
    fn every_result_is_told(text in arbitrary_message(), failed: bool) {
        let pieces = vec![ContentPiece::Text(text)];
        let (call, tool) = ("offline-1".to_owned(), "time".to_owned());
        let told = answer_by_rules(&request(vec![ConversationEntry::Result { call, tool, pieces, failed }]));
        prop_assert!(!told.text.is_empty());
    }

    #[test]
    fn every_schema_has_an_answer(schema in schema(), prompt in arbitrary_message()) {
        let tool = crate::ToolSpec { schema: schema.clone(), ..(*super::tools()[0]).clone() };
        let asked = ModelRequest { tools: vec![tool.into()], ..request(vec![user(&format!("/run time {prompt}"))]) };
        answer_by_rules(&asked);
        let formed = answer_by_rules(&ModelRequest { output: Some(schema), ..asked });
        prop_assert!(serde_json::from_str::<Value>(&formed.text).is_ok());
    }
}

/// Schemas that require more than the limits allow get a smaller answer.
#[test]
fn a_schema_that_wants_too_much_is_answered() {
    let mut lists = json!({ "type": "string" });
    for _ in 0..12 {
        lists = json!({ "type": "array", "minItems": 1_000_000, "items": lists });
    }
    let names = ["a", "b", "c", "d", "e", "f"];
    let fields: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "$ref": "#" }))).collect();
    let endless = json!({ "type": "object", "properties": fields, "required": names });
    let own = json!({ "type": "array", "minItems": u64::MAX, "items": { "$ref": "#" } });
    for schema in [lists, endless, own] {
        let formed = answer_by_rules(&ModelRequest { output: Some(schema), ..request(vec![user("go")]) });
        assert!(formed.text.len() < 1_000_000);
    }
}

/// A line with many opening and no closing characters is parsed quickly.
#[test]
fn a_long_line_is_read() {
    for piece in ["a='x ", "a={\"a\":[ ", "'a ", "{\"a\":", "word ", "/run "] {
        let long = piece.repeat(20_000);
        for message in [format!("/run echo {long}"), format!("echo {long}"), long] {
            let answer = answer_by_rules(&request(vec![user(&message)]));
            assert!(!answer.text.is_empty() || !answer.calls.is_empty(), "{piece}");
        }
    }
}
