//! How the parts of a message become the input that a schema asks for.

use serde_json::{Value, json};
use trackway_domain::{Part, Problem};

/// The first data part is the input. Where there is none, text stands in for a schema that asks for
/// one string: a plain string, or an object with exactly one required property that is a string. A
/// schema that asks for nothing takes any message: its data, else its text, else null; files are read
/// from the message itself.
pub fn input_from_parts(schema: &Value, parts: &[Part]) -> Result<Value, Box<Problem>> {
    if let Some(data) = parts.iter().find_map(Part::as_data) {
        return Ok(data.clone());
    }
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    let text = (!texts.is_empty()).then(|| texts.join("\n"));
    match (text, one_string(schema)) {
        (Some(text), Some(OneString::Plain)) => Ok(Value::String(text)),
        (Some(text), Some(OneString::Property(name))) => Ok(json!({ name: text })),
        (text, _) if asks_for_nothing(schema) => Ok(text.map_or(Value::Null, Value::String)),
        (text, _) => Err(Box::new(Problem {
            path: String::new(),
            code: "type".into(),
            message: "a data part was expected".into(),
            expected: schema.get("type").cloned().unwrap_or_else(|| json!("object")),
            got: text.map(Value::String),
            hint: Some("send a part of kind \"data\" whose data satisfies the schema".into()),
        })),
    }
}

/// Members of a schema that say something about a value without constraining it.
const ANNOTATIONS: [&str; 7] =
    ["$schema", "$id", "$comment", "title", "description", "default", "examples"];

fn asks_for_nothing(schema: &Value) -> bool {
    match schema {
        Value::Bool(allowed) => *allowed,
        Value::Object(rules) => rules.keys().all(|rule| ANNOTATIONS.contains(&rule.as_str())),
        _ => false,
    }
}

enum OneString<'a> {
    Plain,
    Property(&'a str),
}

fn one_string(schema: &Value) -> Option<OneString<'_>> {
    let is_string = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "string");
    if is_string(schema) {
        return Some(OneString::Plain);
    }
    let [required] = schema.get("required")?.as_array()?.as_slice() else {
        return None;
    };
    let name = required.as_str()?;
    let property = schema.get("properties")?.get(name)?;
    is_string(property).then_some(OneString::Property(name))
}

#[cfg(test)]
mod tests;
