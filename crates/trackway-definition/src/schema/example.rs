//! A value that fits a schema, as far as one can be made by looking at it.

use serde_json::{Map, Value, json};

use super::place::resolved;

/// Schemas of trees refer to themselves; an example of one is shallow.
/// Limit (Definitions): levels of an example for a schema.
const DEPTH_MAX: usize = 8;

/// No example needs more items than this.
/// Limit (Definitions): items of a list in an example.
const ITEMS_MAX: u64 = 64;

/// Text to make a text longer with.
const FILLER: &str = "…";

/// No example needs a longer text than this.
/// Limit (Definitions): characters of a text in an example.
const TEXT_MAX: u64 = 4096;

/// A value that fits a schema, if it is a plain one.
pub(crate) fn made(root: &Value, schema: &Value) -> Value {
    make(root, schema, 0, 0)
}

/// `number` tells the items of a list apart.
fn make(root: &Value, schema: &Value, depth: usize, number: u64) -> Value {
    let schema = resolved(root, schema);
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    let ready = [schema.get("const"), schema.pointer("/examples/0"), schema.get("default")];
    if let Some(value) = ready.into_iter().flatten().next() {
        return value.clone();
    }
    if let Some(options) =
        schema.get("enum").and_then(Value::as_array).filter(|all| !all.is_empty())
    {
        return options[number as usize % options.len()].clone();
    }
    for choices in ["oneOf", "anyOf"] {
        if let Some(first) = schema.get(choices).and_then(|choices| choices.get(0)) {
            return joined(
                typed(root, schema, depth, number),
                make(root, first, depth + 1, number),
            );
        }
    }
    if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
        let own = typed(root, schema, depth, number);
        return all
            .iter()
            .fold(own, |made, part| joined(made, make(root, part, depth + 1, number)));
    }
    typed(root, schema, depth, number)
}

/// Two halves of an object; of anything else, the later.
fn joined(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            Value::Object(first)
        }
        (first, Value::Null) => first,
        (_, second) => second,
    }
}

fn typed(root: &Value, schema: &Value, depth: usize, number: u64) -> Value {
    match kind(schema) {
        "object" => object(root, schema, depth),
        "array" => list(root, schema, depth),
        "string" => text(schema, number),
        "integer" | "number" => amount(schema, number),
        "boolean" => json!(true),
        _ => Value::Null,
    }
}

/// The type, or the one that the other keywords speak of. Where nothing is said, a text will do.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("string"),
        _ if schema.get("properties").is_some() || schema.get("required").is_some() => "object",
        _ if schema.get("items").is_some() || schema.get("minItems").is_some() => "array",
        _ if schema.get("minimum").is_some() || schema.get("maximum").is_some() => "number",
        _ => "string",
    }
}

fn object(root: &Value, schema: &Value, depth: usize) -> Value {
    let mut object = Map::new();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        let property = schema.get("properties").and_then(|all| all.get(name));
        let other = schema.get("additionalProperties").filter(|schema| schema.is_object());
        let made = match property.or(other) {
            Some(property) => make(root, property, depth + 1, 0),
            None => json!(FILLER),
        };
        object.insert(name.to_owned(), made);
    }
    Value::Object(object)
}

fn list(root: &Value, schema: &Value, depth: usize) -> Value {
    let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1);
    let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(ITEMS_MAX);
    let count = least.max(first.len() as u64).min(most).min(ITEMS_MAX);
    let rest = schema.get("items").or(schema.get("contains"));
    let items = (0..count).map(|number| match (first.get(number as usize), rest) {
        (Some(schema), _) | (None, Some(schema)) => make(root, schema, depth + 1, number),
        (None, None) => json!(format!("{FILLER}{}", number + 1)),
    });
    Value::Array(items.collect())
}

fn text(schema: &Value, number: u64) -> Value {
    let ready = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "12:00:00Z",
        Some("email") => "someone@example.com",
        Some("uri" | "iri" | "uri-reference") => "https://example.com/",
        Some("uuid") => "01890a5d-ac96-774b-bcce-b302099a8057",
        _ => "",
    };
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(TEXT_MAX);
    let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(TEXT_MAX);
    let mut text = if ready.is_empty() { FILLER.to_owned() } else { ready.to_owned() };
    if number > 0 {
        text.push_str(&number.to_string());
    }
    while (text.chars().count() as u64) < least {
        text.push_str(FILLER);
    }
    json!(text.chars().take(most as usize).collect::<String>())
}

fn amount(schema: &Value, number: u64) -> Value {
    let get = |key: &str| schema.get(key).and_then(Value::as_f64);
    let is_whole = schema.get("type").is_some_and(|kind| kind == "integer");
    let step = get("multipleOf").unwrap_or(1.0);
    let above =
        get("exclusiveMinimum").map(|least| if is_whole { least + 1.0 } else { least + step });
    let below = get("exclusiveMaximum").map(|most| if is_whole { most - 1.0 } else { most - step });
    let most = get("maximum").or(below);
    let least = get("minimum").or(above);
    let start = least.or(most).unwrap_or(1.0);
    let mut value =
        if schema.get("multipleOf").is_some() { (start / step).ceil() * step } else { start };
    value += number as f64 * step;
    if is_whole {
        value = value.ceil();
    }
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
