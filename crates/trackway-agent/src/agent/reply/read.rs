//! What a message may mean as an answer to a question. Pure; whether it fits is judged by the schema.

use serde_json::Value;
use trackway_domain::Part;
use trackway_engine::input_from_parts;

use crate::provider::offline::{written_field, written_fields, written_value};

/// What the message may mean, the plainest reading first. Commands of a terminal mean nothing here.
pub(super) fn candidates(schema: &Value, parts: &[Part]) -> Vec<Value> {
    let text = text(parts);
    if text.as_deref().is_some_and(|text| text.starts_with('/')) {
        return Vec::new();
    }
    let mut read: Vec<Value> = input_from_parts(schema, parts).ok().into_iter().collect();
    let Some(text) = text else { return read };
    read.extend(written_fields(schema, &text));
    read.extend(written_field(schema, &text));
    read.extend(written_value(schema, &text));
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

#[cfg(test)]
mod tests;
