//! A schema in one line, as programmers write types: `{ title: string, size?: "S" | "L" }`.
//!
//! The JSON of an answer has the whole schema. The text has what a reader needs, in much less space. A
//! schema without a short form is shown as JSON.

use serde_json::{Map, Value};

use crate::markdown_quoting::collapse_to_one_line;

/// Limit (MCP): levels of a schema that the text of an answer shows; what is deeper is in the JSON.
const DEPTH_MAX: usize = 8;

/// Keywords that say nothing about a value.
const IGNORED_KEYWORDS: [&str; 6] = ["$schema", "$id", "$comment", "title", "examples", "default"];

/// Keywords that are shown in brackets after the type, unchanged.
const CONSTRAINT_KEYWORDS: [&str; 14] = [
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The form of the values that fit a schema.
pub(crate) fn summarize_schema(schema: &Value) -> String {
    collapse_to_one_line(&format_schema_as_type(schema, 0))
}

/// Whether the schema says more than an example of it shows: other choices, limits, optional fields, more
/// fields.
pub(super) fn schema_adds_to_example(schema: &Value, example: &Value) -> bool {
    let Some(keys) = schema.as_object() else { return schema != &Value::Bool(true) };
    let plain = ["type", "properties", "required", "items", "description"];
    if keys.contains_key("description") || keys.keys().any(|key| !plain.contains(&key.as_str())) {
        return !keys.keys().all(|key| IGNORED_KEYWORDS.contains(&key.as_str()));
    }
    match example {
        Value::Object(example) => {
            let fields = keys.get("properties").and_then(Value::as_object);
            let required = required_fields(keys);
            fields.into_iter().flatten().any(|(name, field)| match example.get(name) {
                Some(example) => !required.contains(&name.as_str()) || schema_adds_to_example(field, example),
                None => true,
            })
        }
        Value::Array(items) => match (keys.get("items"), items.first()) {
            (Some(item), Some(example)) => schema_adds_to_example(item, example),
            (Some(_), None) => true,
            (None, _) => false,
        },
        _ => false,
    }
}

fn format_schema_as_type(schema: &Value, depth: usize) -> String {
    match schema {
        Value::Bool(true) => "anything".to_owned(),
        Value::Object(keys) if keys.is_empty() => "anything".to_owned(),
        Value::Object(_) if depth > DEPTH_MAX => "…".to_owned(),
        Value::Object(keys) => {
            format_supported_schema_keywords(keys, depth).unwrap_or_else(|| schema.to_string())
        }
        other => other.to_string(),
    }
}

/// None if a keyword has no short form.
fn format_supported_schema_keywords(keys: &Map<String, Value>, depth: usize) -> Option<String> {
    let structure =
        ["type", "properties", "required", "items", "contains", "additionalProperties", "description"];
    let choices = ["const", "enum", "anyOf", "oneOf", "allOf"];
    let known = |key: &str| {
        structure.contains(&key)
            || choices.contains(&key)
            || CONSTRAINT_KEYWORDS.contains(&key)
            || IGNORED_KEYWORDS.contains(&key)
    };
    if !keys.keys().all(|key| known(key)) {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    parts.extend(keys.get("const").map(Value::to_string));
    if let Some(all) = keys.get("enum").and_then(Value::as_array) {
        parts.push(all.iter().map(Value::to_string).collect::<Vec<_>>().join(" | "));
    }
    for (key, between) in [("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")] {
        if let Some(all) = keys.get(key).and_then(Value::as_array) {
            let all: Vec<String> = all.iter().map(|one| format_schema_as_type(one, depth + 1)).collect();
            parts.push(all.join(between));
        }
    }
    if parts.is_empty() || keys.contains_key("properties") {
        parts.push(format_schema_type_name(keys, depth));
    }
    let mut text = parts.join(" & ");
    let bounds: Vec<String> = CONSTRAINT_KEYWORDS
        .iter()
        .filter_map(|key| keys.get(*key).map(|value| format!("{key} {value}")))
        .collect();
    if !bounds.is_empty() {
        text.push_str(&format!(" ({})", bounds.join(", ")));
    }
    let description = keys.get("description").and_then(Value::as_str).unwrap_or_default();
    if !description.is_empty() {
        text.push_str(&format!(" /* {} */", description.replace("*/", "* /")));
    }
    Some(text)
}

fn format_schema_type_name(keys: &Map<String, Value>, depth: usize) -> String {
    let kind = match keys.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            return kinds.join(" | ");
        }
        _ if keys.contains_key("properties") || keys.contains_key("required") => "object",
        _ if keys.contains_key("items") || keys.contains_key("contains") => "array",
        _ => "anything",
    };
    match kind {
        "object" => format_object_type(keys, depth),
        "array" => {
            let items =
                keys.get("items").map_or_else(String::new, |items| format_schema_as_type(items, depth + 1));
            match keys.get("contains") {
                Some(one) => format!("[… {} …]", format_schema_as_type(one, depth + 1)),
                None if items.is_empty() => "array".to_owned(),
                None => format!("[{items}, …]"),
            }
        }
        kind => kind.to_owned(),
    }
}

fn format_object_type(keys: &Map<String, Value>, depth: usize) -> String {
    let required = required_fields(keys);
    let fields = keys.get("properties").and_then(Value::as_object);
    let mut parts: Vec<String> = Vec::new();
    for (name, field) in fields.into_iter().flatten() {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        parts.push(format!("{name}{mark}: {}", format_schema_as_type(field, depth + 1)));
    }
    let unnamed = required.iter().filter(|name| fields.is_none_or(|all| !all.contains_key(**name)));
    parts.extend(unnamed.map(|name| format!("{name}: anything")));
    match keys.get("additionalProperties") {
        Some(Value::Bool(false)) => parts.push("nothing else".to_owned()),
        Some(other @ Value::Object(_)) => {
            parts.push(format!("[other names]: {}", format_schema_as_type(other, depth + 1)));
        }
        _ => {}
    }
    if parts.is_empty() { "object".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
}

fn required_fields(keys: &Map<String, Value>) -> Vec<&str> {
    let names = keys.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests;
