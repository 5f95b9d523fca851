//! An example of what fits a JSON Schema, for people and agents who would rather see one.

use serde_json::{Map, Value, json};

/// Deepest nesting of an example. Schemas may speak of themselves without end.
const DEPTH_MAX: u32 = 8;

/// A value as the schema describes it. It fits the usual schemas; where a schema says more than types,
/// lists of values and required names, it is a sketch.
pub(crate) fn of(schema: &Value) -> Value {
    sketch(schema, DEPTH_MAX)
}

fn sketch(schema: &Value, depth: u32) -> Value {
    let given = schema.get("const").or_else(|| schema.get("default")).or_else(|| {
        schema.get("example").or_else(|| {
            let lists = ["examples", "enum"].into_iter().filter_map(|key| schema.get(key));
            lists.filter_map(|list| list.get(0)).next()
        })
    });
    if let Some(value) = given {
        return value.clone();
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(choice).and_then(|list| list.get(0)) {
            return sketch(first, depth);
        }
    }
    match type_of(schema) {
        Some("object") => object(schema, depth),
        Some("array") => {
            let item = schema.get("items").map_or(json!("text"), |items| sketch(items, depth));
            json!([item])
        }
        Some("boolean") => json!(true),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("null") => Value::Null,
        _ => text(schema),
    }
}

fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => names.first().and_then(Value::as_str),
        _ => schema.get("properties").map(|_| "object"),
    }
}

fn object(schema: &Value, depth: u32) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let mut entries = Map::new();
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let property = properties.and_then(|properties| properties.get(name));
        entries.insert(name.to_owned(), sketch(property.unwrap_or(&Value::Null), depth));
    }
    Value::Object(entries)
}

/// Longest text that is made to fit a `minLength`.
const TEXT_MAX: usize = 200;

fn text(schema: &Value) -> Value {
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
    let least = usize::try_from(least).unwrap_or(TEXT_MAX).min(TEXT_MAX);
    let mut text = "text".to_owned();
    while text.len() < least {
        text.push_str(" text");
    }
    Value::String(text)
}
