//! What is too much work, and what is not.

use serde_json::json;

use super::*;

/// A tree in which every level has one of three branches, and a value of that depth that fits none.
fn forms(depth: usize) -> (Value, Value) {
    let form = |name: &str| {
        json!({"type": "object", "required": [name], "properties": {
            name: {}, "a": {"$ref": "#/$defs/n"}}})
    };
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {
        "anyOf": [form("x"), form("y"), form("z"), {"type": "string"}]}}});
    (schema, (0..depth).fold(json!(5), |inner, _| json!({"a": inner})))
}

#[test]
fn forms_that_refer_to_each_other_are_too_much_from_some_depth_on() {
    for (depth, fits) in [(1, true), (5, true), (14, false), (90, false)] {
        let (schema, value) = forms(depth);
        assert_eq!(can_list_all_errors(&schema, &value), fits, "{depth}");
        assert!(has_schema_alternatives(&schema));
    }
}

#[test]
fn plain_forms_are_not_too_much_however_many_fields_are_unknown() {
    let schema = json!({"type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "array", "items": {"type": "integer"}}}});
    let unknown: serde_json::Map<String, Value> =
        (0..100_000).map(|number| (format!("k{number}"), json!(number))).collect();
    assert!(can_list_all_errors(&schema, &Value::Object(unknown.clone())));
    assert!(!can_list_all_errors(&schema, &json!({"a": vec!["x"; 100_000]})), "each is an error");
    assert!(!has_schema_alternatives(&schema));
    assert!(
        is_slow_to_validate(&Value::Object(unknown.clone())) && has_too_many_values(&Value::Object(unknown))
    );
    let report = json!({"text": "x".repeat(1_000_000)});
    assert!(is_slow_to_validate(&report) && !has_too_many_values(&report));
    assert!(!is_slow_to_validate(&json!({"a": [1, 2, 3]})));
}

#[test]
fn references_that_double_are_not_compiled() {
    let doubling = |levels: usize| {
        let mut definitions = serde_json::Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"allOf": [next, next]}));
        }
        definitions.insert(format!("d{levels}"), json!({"type": "string"}));
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    assert!(has_bounded_expansion(&doubling(5)));
    assert!(!has_bounded_expansion(&doubling(40)));
    assert!(has_bounded_expansion(&forms(1).0), "a schema may refer to itself");
    let itself = json!({"$ref": "#"});
    assert!(has_bounded_expansion(&itself) && !can_list_all_errors(&itself, &json!(1)), "and for ever");
}
