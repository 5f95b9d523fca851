//! Tests of schemas: which can be used, and needs whose examples fix the value.

use proptest::prelude::*;
use serde_json::json;

use super::schema_pointer::put_value_at_pointer;
use super::*;
use crate::test_support::any_json_strategy;

/// Applies all needs at once.
pub(crate) fn apply_needs(value: &mut Value, needs: &[InputRequirement]) {
    for need in needs {
        assert!(
            put_value_at_pointer(value, &need.pointer, crate::test_support::value_satisfying_need(need)),
            "{need:?}"
        );
    }
}

#[test]
fn only_schemas_that_are_safe_and_whole_are_used() {
    for schema in [
        json!({}),
        json!(true),
        json!({"type": "object", "properties": {"$ref": {"type": "string"}, "id": {"type": "string"}}}),
        json!({"$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"}),
        json!({"properties": {"children": {"items": {"$ref": "#"}}}}),
        json!({"pattern": "^(a+)+$"}),
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/x"}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}),
        json!({"enum": [{"$comment": "x"}]}),
    ] {
        assert_eq!(find_schema_error(&schema), None, "{schema}");
    }
    let doubling: Object = (0..40)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), if n == 39 { json!({}) } else { json!({"anyOf": [next, next]}) })
        })
        .collect();
    for (schema, part) in [
        (json!("string"), "object"),
        (json!({"type": "strin"}), "cannot be used"),
        (json!({"type": 7}), "cannot be used"),
        (json!({"pattern": "("}), "cannot be used"),
        (json!({"pattern": "a(?=b)"}), "cannot be used"),
        (json!({"minLength": -1}), "cannot be used"),
        (json!({"$ref": "https://example.com/schema.json"}), "nothing is fetched"),
        (json!({"items": {"$ref": "file:///etc/passwd"}}), "nothing is fetched"),
        (json!({"$ref": "other.json"}), "nothing is fetched"),
        (json!({"$dynamicRef": "#a"}), "nothing is fetched"),
        (json!({"$ref": "#/$defs/none"}), "nothing at"),
        (json!({"$ref": "#"}), "back to itself"),
        (json!({"allOf": [{"$ref": "#"}]}), "back to itself"),
        (
            json!({"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}, "items": {"$ref": "#/$defs/a"}}),
            "back to itself",
        ),
        (json!({"$defs": doubling, "$ref": "#/$defs/d0"}), "too many ways"),
        (json!({"properties": {"a": {"$id": "https://example.com/b", "$ref": "#"}}}), "is inside it"),
        (json!({"description": "x".repeat(70_000)}), "at most"),
        (json!({"$schema": "https://example.com/own"}), "cannot be used"),
    ] {
        let fault = find_schema_error(&schema).unwrap_or_else(|| panic!("{part}: passes"));
        assert!(fault.contains(part), "{part}: {fault}");
    }
}

fn review_schema() -> (Value, Value) {
    let schema = json!({
        "type": "object",
        "required": ["title", "verdict", "findings"],
        "additionalProperties": false,
        "properties": {
            "title": {"type": "string", "minLength": 3},
            "verdict": {"enum": ["approve", "reject"]},
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "id": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
            "findings": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/finding"}},
        },
        "$defs": {"finding": {"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}, "line": {"type": "integer"}}}},
    });
    let example = json!({"title": "Fix it", "verdict": "reject", "id": "AB-1", "findings": [{"file": "a.rs", "line": 3}]});
    (schema, example)
}

/// Proves T7: an unknown field is removed by a replacement of its parent, with the rest kept, and other
/// faults there fixed with it.
#[test]
fn unknown_fields_are_left_out_of_the_example() {
    let text = json!({"type": "string"});
    let shut = json!({
        "type": "object", "required": ["a"], "properties": {"a": text, "in": {
            "type": "object", "properties": {"x": text}, "additionalProperties": false}},
        "additionalProperties": false,
    });
    let open = json!({
        "type": "object", "allOf": [{"required": ["a"], "properties": {"a": text}}],
        "unevaluatedProperties": false,
    });
    for (schema, value, pointer, mended) in [
        (&shut, json!({"a": "mine", "b": 1, "c": 2}), "/output", json!({"a": "mine"})),
        (&shut, json!({"b": 1}), "/output", json!({"a": "x"})),
        (&shut, json!({"a": "mine", "in": {"x": "1", "y": 2}}), "/output/in", json!({"x": "1"})),
        (
            &shut,
            json!({"a": "mine", "b": 1, "in": {"x": 1, "y": 2}}),
            "/output",
            json!({"a": "mine", "in": {"x": "…"}}),
        ),
        (&open, json!({"a": "mine", "q": 1}), "/output", json!({"a": "mine"})),
    ] {
        let needs = find_schema_needs(schema, &value, "/output", Some(&json!({"a": "x"})));
        assert_eq!(needs.len(), 1, "{value}: {needs:?}");
        assert_eq!(
            (needs[0].pointer.as_str(), &needs[0].example),
            (pointer, &Some(mended)),
            "{value}: {needs:?}"
        );
    }
}

/// Proves T7: each need has the exact pointer, the schema there, the sent value and a value that works.
#[test]
fn violation_is_reported_at_its_pointer() {
    let (schema, example) = review_schema();
    assert_eq!(find_example_error(&schema, &example), None);
    let good = || example.clone();
    let mut with_extra = good();
    with_extra["extra"] = json!(1);
    for (change, pointer, example, got) in [
        (("/title", json!(7)), "/output/title", Some(json!("Fix it")), Some(json!(7))),
        (("/title", json!("x")), "/output/title", Some(json!("Fix it")), Some(json!("x"))),
        (("/verdict", json!("maybe")), "/output/verdict", Some(json!("approve")), Some(json!("maybe"))),
        (("/score", json!(9)), "/output/score", Some(json!(1)), Some(json!(9))),
        (("/id", json!("ab")), "/output/id", Some(json!("AB-1")), Some(json!("ab"))),
        (
            ("/findings", json!([])),
            "/output/findings",
            Some(json!([{"file": "a.rs", "line": 3}])),
            Some(json!([])),
        ),
        (("/findings/0/line", json!("3")), "/output/findings/0/line", Some(json!(3)), Some(json!("3"))),
        (("/findings/1", json!({"line": 1})), "/output/findings/1/file", Some(json!("…")), None),
        (("/extra", json!(1)), "/output", Some(good()), Some(with_extra)),
        (("", json!("text")), "/output", Some(good()), Some(json!("text"))),
        (("", json!([])), "/output", Some(good()), Some(json!([]))),
    ] {
        let mut value = good();
        assert!(put_value_at_pointer(&mut value, change.0, change.1));
        let needs = find_schema_needs(&schema, &value, "/output", Some(&good()));
        assert_eq!(needs.len(), 1, "{needs:?}");
        assert_eq!(
            (needs[0].pointer.as_str(), &needs[0].example, &needs[0].got),
            (pointer, &example, &got),
            "{needs:?}"
        );
        assert!(needs[0].schema.is_some());
    }
    let empty = find_schema_needs(&schema, &json!({}), "/output", Some(&good()));
    let pointers: Vec<&str> = empty.iter().map(|need| need.pointer.as_str()).collect();
    assert_eq!(pointers, ["/output/title", "/output/verdict", "/output/findings"]);
    assert_eq!(empty[0].schema, Some(json!({"type": "string", "minLength": 3})));
    assert!(find_schema_needs(&schema, &good(), "/output", None).is_empty());
}

/// Proves T7: a name with a slash or a tilde is found again by its pointer.
#[test]
fn pointers_are_escaped() {
    let schema = json!({"required": ["a/b~c"], "properties": {"a/b~c": {"type": "integer"}}});
    assert_eq!(find_schema_needs(&schema, &json!({}), "/output", None)[0].pointer, "/output/a~1b~0c");
    let wrong = find_schema_needs(&schema, &json!({"a/b~c": "x"}), "/output", None);
    assert_eq!((wrong[0].pointer.as_str(), &wrong[0].got), ("/output/a~1b~0c", &Some(json!("x"))));
}

#[test]
fn context_is_checked_against_its_schema() {
    let schema = json!({"type": "object", "required": ["goal"], "properties": {"goal": {"type": "string"}}});
    let context = |value: Value| value.as_object().cloned().unwrap();
    assert_eq!(check_context_against_schema(&schema, &context(json!({"goal": "x"}))), Ok(()));
    let block = check_context_against_schema(&schema, &context(json!({}))).unwrap_err();
    assert_eq!((block.code.as_str(), block.needs[0].pointer.as_str()), ("context-missing", "/context/goal"));
    let block = check_context_against_schema(&schema, &context(json!({"goal": 1}))).unwrap_err();
    assert_eq!((block.code.as_str(), &block.needs[0].got), ("context-invalid", &Some(json!(1))));
}

#[test]
fn what_was_sent_is_shown_at_a_bounded_length() {
    let long = json!("ä".repeat(5_000));
    let shown = truncate_value_for_display(&long);
    assert!(shown.as_str().unwrap().len() < 2_200 && shown.as_str().unwrap().ends_with("(10000 bytes)"));
    assert!(truncate_value_for_display(&json!([long])).is_string());
    assert_eq!(truncate_value_for_display(&json!([1])), json!([1]));
}

/// A schema and a value that fits it.
fn schema_and_example() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        (1usize..4).prop_map(|n| (json!({"type": "string", "minLength": n}), json!("x".repeat(n)))),
        Just((json!({"type": "string", "pattern": "^[a-z]+-[0-9]$"}), json!("ab-1"))),
        (-5i64..5).prop_map(|n| (json!({"type": "integer", "minimum": n, "maximum": n + 2}), json!(n + 1))),
        Just((json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}), json!(1.5))),
        Just((json!({"type": "boolean"}), json!(false))),
        Just((json!({"enum": ["low", "high"]}), json!("high"))),
        Just((json!({"const": "fixed"}), json!("fixed"))),
        Just((json!({"type": ["string", "null"]}), json!(null))),
        Just((json!({"anyOf": [{"type": "integer"}, {"type": "string", "format": "date"}]}), json!(1))),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields = prop::collection::btree_map("[a-c/~é]{1,2}", (inner.clone(), any::<bool>()), 0..4);
        prop_oneof![
            (fields, any::<bool>()).prop_map(|(fields, open)| {
                let properties: Object =
                    fields.iter().map(|(name, ((schema, _), _))| (name.clone(), schema.clone())).collect();
                let example: Object =
                    fields.iter().map(|(name, ((_, value), _))| (name.clone(), value.clone())).collect();
                let required: Vec<&String> =
                    fields.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
                let schema = json!({
                    "type": "object", "properties": properties, "required": required,
                    "additionalProperties": open,
                });
                (schema, Value::Object(example))
            }),
            (inner.clone(), 0usize..3).prop_map(|((schema, value), least)| {
                (json!({"type": "array", "items": schema, "minItems": least}), json!(vec![value; least.max(1)]))
            }),
            (inner.clone(), inner).prop_map(|((first, value), (second, _))| {
                (json!({"anyOf": [{"type": "object", "required": ["v"], "properties": {"v": first}}, {"allOf": [second, {"const": "no"}]}]}), json!({"v": value}))
            }),
        ]
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    any_json_strategy((-9i64..9).prop_map(Value::from), "[a-z]{0,3}", "[a-cv/~é]{1,2}")
}

/// The example with one part replaced or removed.
fn damaged_value(example: Value) -> impl Strategy<Value = Value> {
    let mut places = vec![String::new()];
    list_places(&example, "", &mut places);
    (prop::collection::vec((prop::sample::select(places), any_value(), any::<bool>()), 0..3)).prop_map(
        move |changes| {
            let mut value = example.clone();
            for (place, other, take) in changes {
                match (take, place.rsplit_once('/')) {
                    (true, Some((outer, last))) => {
                        let outer = value.pointer_mut(outer).and_then(Value::as_object_mut);
                        outer.map(|outer| outer.remove(&schema_pointer::unescape_pointer_token(last)));
                    }
                    _ => {
                        put_value_at_pointer(&mut value, &place, other);
                    }
                }
            }
            value
        },
    )
}

fn list_places(value: &Value, at: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            places.push(crate::context_error::child_pointer(at, key));
            list_places(value, &crate::context_error::child_pointer(at, key), places);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(place, value)| {
            places.push(format!("{at}/{place}"));
            list_places(value, &format!("{at}/{place}"), places);
        }),
        _ => {}
    }
}

proptest! {
    /// Proves T7: applying the needs fixes an output, in at most three rounds.
    #[test]
    fn applied_needs_make_the_value_valid((schema, example, mut value) in schema_and_example().prop_flat_map(|(schema, example)| {
        let values = prop_oneof![damaged_value(example.clone()), any_value()];
        values.prop_map(move |value| (schema.clone(), example.clone(), value))
    })) {
        prop_assert_eq!(find_example_error(&schema, &example), None);
        let mut asked = Vec::new();
        for _ in 0..3 {
            asked = find_schema_needs(&schema, &value, "", Some(&example));
            apply_needs(&mut value, &asked);
        }
        let left = find_schema_needs(&schema, &value, "", Some(&example));
        prop_assert!(left.is_empty(), "{schema} {example} {value} {asked:?} {left:?}");
    }

    /// Any accepted schema works with any value, and gives an example.
    #[test]
    fn no_schema_takes_the_process_down(schema in any_value(), value in any_value()) {
        if find_schema_error(&schema).is_none() {
            find_schema_needs(&schema, &value, "/output", None);
            example_for_subschema(&schema, &schema);
        }
    }
}

/// Proves X5: a value with too many errors to list is refused without the list, quickly.
#[test]
fn a_value_with_too_many_errors_to_list_is_refused_without_the_list() {
    let form = |name: &str| json!({"required": [name], "properties": {"a": {"$ref": "#/$defs/n"}}});
    let forms = json!({"$ref": "#/$defs/n", "$defs": {"n": {
        "anyOf": [form("x"), form("y"), form("z"), {"type": "string"}]}}});
    let deep = (0..60).fold(json!(null), |inner, _| json!({"a": inner}));
    let closed = json!({"type": "object", "additionalProperties": false});
    let wide = Value::Object((0..50_000).map(|at| (format!("k{at}"), json!(at))).collect());
    for (schema, value) in [(forms, deep), (closed, wide)] {
        let needs = super::find_schema_needs(&schema, &value, "/output", None);
        assert_eq!((needs.len(), needs[0].pointer.as_str()), (1, "/output"));
        assert_eq!((needs[0].got.as_ref(), needs[0].schema.as_ref()), (None, Some(&schema)));
    }
}
