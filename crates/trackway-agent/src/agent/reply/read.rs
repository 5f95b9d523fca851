//! What a message may mean as an answer to a question. Pure; whether it fits is judged by the schema.

use serde_json::{Map, Value};
use trackway_domain::Part;
use trackway_engine::input_from_parts;

const YES: [&str; 6] = ["yes", "y", "true", "ok", "okay", "approved"];
const NO: [&str; 5] = ["no", "n", "false", "denied", "rejected"];

/// What the message may mean, the plainest reading first. Commands of a terminal mean nothing here.
pub(super) fn candidates(schema: &Value, parts: &[Part]) -> Vec<Value> {
    let text = text(parts);
    if text.as_deref().is_some_and(|text| text.starts_with('/')) {
        return Vec::new();
    }
    let mut read: Vec<Value> = input_from_parts(schema, parts).ok().into_iter().collect();
    let Some(text) = text else { return read };
    read.extend(serde_json::from_str(&text).ok());
    read.extend(pairs(schema, &text));
    if let Some(name) = only_field(schema) {
        let field = &schema["properties"][name];
        let one = |value: Value| Value::Object(Map::from_iter([(name.to_owned(), value)]));
        read.extend(typed(field, &text).map(one));
    }
    read.extend(typed(schema, &text));
    read
}

/// The message as it stands, where it is meant for a question that it does not fit.
pub(super) fn plain(parts: &[Part]) -> Option<Value> {
    parts.iter().find_map(Part::as_data).cloned().or_else(|| text(parts).map(Value::String))
}

fn text(parts: &[Part]) -> Option<String> {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    (!texts.is_empty()).then(|| texts.join("\n").trim().to_owned())
}

/// The one field that has to be there.
fn only_field(schema: &Value) -> Option<&str> {
    match schema.get("required")?.as_array()?.as_slice() {
        [name] => name.as_str(),
        _ => None,
    }
}

/// `name=value` for each field, as the offline model takes them.
fn pairs(schema: &Value, text: &str) -> Option<Value> {
    let mut fields = Map::new();
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=')?;
        let field = schema.get("properties")?.get(name)?;
        fields.insert(name.to_owned(), typed(field, value)?);
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// A text as a value of the schema's type.
fn typed(schema: &Value, text: &str) -> Option<Value> {
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => {
            let word = text.trim_end_matches(['.', '!']).to_lowercase();
            let is = |words: &[&str]| words.contains(&word.as_str());
            if is(&YES) {
                Some(Value::Bool(true))
            } else if is(&NO) {
                Some(Value::Bool(false))
            } else {
                None
            }
        }
        Some("integer" | "number") => {
            serde_json::from_str(text).ok().filter(|value: &Value| value.is_number())
        }
        Some("string") => Some(Value::String(text.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
