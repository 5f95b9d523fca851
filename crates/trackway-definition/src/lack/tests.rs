//! Tests of what is said about a context that lacks something.

use serde_json::json;

use super::*;

/// Proves T7: a missing name says where it goes, and gives a value that goes there.
#[test]
fn a_missing_name_becomes_a_need_at_its_place() {
    for (name, pointer) in [
        ("items", "/context/items"),
        ("ticket.title", "/context/ticket/title"),
        ("a/b", "/context/a~1b"),
        ("a~b.c", "/context/a~0b/c"),
        ("größe", "/context/größe"),
        ("", "/context/"),
    ] {
        let block = Lack::missing(name).block();
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
        (Like::Text, json!({"type": "string"}), json!("…")),
        (Like::Count, json!({"type": "integer", "minimum": 0}), json!(1)),
        (Like::Truth, json!({"type": "boolean"}), json!(true)),
        (Like::List, json!({"type": "array"}), json!(["…"])),
        (Like::Example(json!({"b": 2})), json!({"type": "object"}), json!({"b": 2})),
    ] {
        let need = Lack::missing("a").like(like).needs().remove(0);
        assert_eq!((need.schema, need.example), (Some(schema), Some(example)));
    }
}

/// Proves T7: a wrong value is shown as it was sent.
#[test]
fn a_misfit_shows_what_was_sent() {
    let lack = Lack::misfit("items", &json!("one, two"), Like::List, "`items` has to be a list");
    let block = Block::from(lack);
    assert_eq!(block.code, "context-invalid");
    assert_eq!(block.needs[0].pointer, "/context/items");
    assert_eq!(block.needs[0].got, Some(json!("one, two")));
    assert_eq!(block.needs[0].example, Some(json!(["…"])));

    let block = Lack::wrong("it overflows").block();
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
        assert_eq!(find(context, name), value.as_ref(), "{name}");
    }
}
