//! Tests of the errors for a context that lacks something.

use serde_json::json;

use super::*;

/// Proves T7: the need for a missing name has its pointer and an example value.
#[test]
fn missing_name_becomes_a_need_at_its_pointer() {
    for (name, pointer) in [
        ("items", "/context/items"),
        ("ticket.title", "/context/ticket/title"),
        ("a/b", "/context/a~1b"),
        ("a~b.c", "/context/a~0b/c"),
        ("größe", "/context/größe"),
        ("", "/context/"),
    ] {
        let block = ContextError::missing_name(name).to_block_reason();
        assert_eq!(block.code, "context-missing");
        assert_eq!(block.needs[0].pointer, pointer);
        assert_eq!(block.needs[0].schema, Some(json!({})));
        assert_eq!(block.needs[0].example, Some(json!("…")));
        assert_eq!(block.needs[0].got, None);
        assert!(block.message.contains(name));
    }
}

/// Proves T7.
#[test]
fn what_a_value_is_needed_for_shows_in_schema_and_example() {
    for (like, schema, example) in [
        (ExpectedType::Text, json!({"type": "string"}), json!("…")),
        (ExpectedType::Count, json!({"type": "integer", "minimum": 0}), json!(1)),
        (ExpectedType::Boolean, json!({"type": "boolean"}), json!(true)),
        (ExpectedType::List, json!({"type": "array"}), json!(["…"])),
        (ExpectedType::Example(json!({"b": 2})), json!({"type": "object"}), json!({"b": 2})),
    ] {
        let need = ContextError::missing_name("a").with_expected_type(like).input_needs().remove(0);
        assert_eq!((need.schema, need.example), (Some(schema), Some(example)));
    }
}

/// Proves T7: a wrong value is shown as it was sent.
#[test]
fn invalid_value_is_shown_in_the_need() {
    let lack = ContextError::invalid_value(
        "items",
        &json!("one, two"),
        ExpectedType::List,
        "`items` has to be a list",
    );
    let block = BlockReason::from(lack);
    assert_eq!(block.code, "context-invalid");
    assert_eq!(block.needs[0].pointer, "/context/items");
    assert_eq!(block.needs[0].got, Some(json!("one, two")));
    assert_eq!(block.needs[0].example, Some(json!(["…"])));

    let block = ContextError::invalid_without_name("it overflows").to_block_reason();
    assert_eq!((block.needs[0].pointer.as_str(), &block.needs[0].example), ("/context", &None));
}

#[test]
fn a_path_is_followed_through_objects_and_lists() {
    let context = json!({"a": {"b": [{"c": 1}]}, "x.y": 2, "x": {"y": 3}});
    let context = context.as_object().unwrap();
    for (name, value) in [
        ("a.b.0.c", Some(json!(1))),
        ("x.y", Some(json!(2))),
        ("a.b.1", None),
        ("a.c", None),
        ("b", None),
        ("", None),
        ("a..b", None),
    ] {
        assert_eq!(find_context_value(context, name), value.as_ref(), "{name}");
    }
}
