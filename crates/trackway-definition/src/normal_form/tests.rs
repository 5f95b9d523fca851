//! The hash covers the meaning: not key order or spelling of numbers, but every text.

mod golden;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::Definition;

fn definition(input: &Value, prompt: &str) -> Definition {
    let value = json!({
        "format": Definition::FORMAT, "id": "x", "name": "X", "description": "", "version": "1.0.0",
        "input": input,
        "steps": [{ "id": "a", "title": "A", "kind": { "prompt": { "text": prompt } } }],
    });
    serde_json::from_value(value).expect("a definition")
}

/// Proves T3: the hash is a digest of the canonical form, and has its documented form.
#[test]
fn the_hash_is_that_of_the_normal_form() {
    let definition = definition(&json!(true), "Do it.");
    insta::assert_snapshot!(definition.to_canonical_json(), @r#"{"description":"","format":1,"id":"x","input":true,"name":"X","steps":[{"id":"a","kind":{"prompt":{"text":"Do it."}},"title":"A"}],"version":"1.0.0"}"#);
    insta::assert_snapshot!(definition.definition_hash(), @"sha256-a447a1cd91476d5b8017d05521df4433ac22ce8069aa76ac89981215c81bbd2d");
}

/// Proves T3: the spelling of numbers and the order of keys do not change the hash; their values do.
#[test]
fn spelling_does_not_change_the_hash() {
    let read =
        |text: &str| definition(&serde_json::from_str(text).expect("JSON"), "Do it.").definition_hash();
    assert_eq!(read(r#"{"a":1,"b":1e2}"#), read(r#"{ "b": 100.0, "a": 1.0 }"#));
    assert_eq!(read(r#"{"minimum":-0.0}"#), read(r#"{"minimum":0}"#));
    assert_eq!(read(r#"{"a":"\u00e9"}"#), read(r#"{"a":"é"}"#));
    assert_ne!(read(r#"{"a":1}"#), read(r#"{"a":1.5}"#));
    assert_ne!(read(r#"{"a":1}"#), read(r#"{"a":"1"}"#));
    let prompt = |text: &str| definition(&json!(true), text).definition_hash();
    assert_ne!(prompt("Do it."), prompt("Do it!"));
    // Letters that look the same are different text.
    assert_ne!(prompt("caf\u{e9}"), prompt("cafe\u{301}"));
}

/// Proves T3: a pinned definition that cannot be read is refused with the reason.
#[test]
fn an_unknown_form_is_refused() {
    let known = definition(&json!(true), "Do it.").to_canonical_json();
    let newer = known.replace("\"format\":1", "\"format\":2");
    let reason = Definition::from_pinned_json(&newer).expect_err("refused");
    assert_eq!(reason, "the definition was pinned in form 2, and this program reads form 1");
    for damaged in [
        String::new(),
        known[..known.len() / 2].to_owned(),
        known.replace("\"format\":1,", ""),
        known.replace("\"steps\"", "\"stops\""),
        known.replace("prompt", "prompd"),
    ] {
        assert!(Definition::from_pinned_json(&damaged).is_err(), "{damaged}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,5}", inner, 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    /// Proves T3: a pinned definition reads back with the same normal form and hash.
    #[test]
    fn a_pinned_definition_reads_back(input in any_json(), prompt in ".*") {
        let definition = definition(&input, &prompt);
        let pinned = Definition::from_pinned_json(&definition.to_canonical_json()).expect("it reads back");
        prop_assert_eq!(pinned.to_canonical_json(), definition.to_canonical_json());
        prop_assert_eq!(pinned.definition_hash(), definition.definition_hash());
        // From there on nothing changes any more.
        prop_assert_eq!(Definition::from_pinned_json(&pinned.to_canonical_json()).expect("it reads back"), pinned);
    }
}
