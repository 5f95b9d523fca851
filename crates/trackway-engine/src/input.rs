//! How the parts of a message become the input that a schema asks for.

use serde_json::{Value, json};
use trackway_domain::{
    Part, Problem, Question, Reading, WorkflowRef, limit_problems, normalize_integers, shorten_text,
};

use crate::Schemas;

/// The answer that a message gives to a question, and what is wrong with it.
pub fn read_answer(
    workflow: &WorkflowRef,
    question: &Question,
    parts: &[Part],
    schemas: &dyn Schemas,
) -> Reading {
    let (input, problems) = match input_from_parts(&question.schema, parts) {
        Ok(input) => {
            let problems = schemas.check_answer(workflow, question, &input);
            (input, limit_problems(problems))
        }
        Err(problem) => (Value::Null, vec![*problem]),
    };
    Reading { question: question.id, input, problems }
}

/// The first data part is the input. Where there is none, text can be the JSON of an object that the
/// schema asks for; else it stands in for a schema that asks for one plain value (a string, a number, or
/// yes or no), by itself or as the one required property of an object. A schema that asks for nothing
/// takes any message: its data, else its text, else null; files are read from the message itself.
/// Integral numbers become integers.
pub fn input_from_parts(schema: &Value, parts: &[Part]) -> Result<Value, Box<Problem>> {
    let mut input = value_from_parts(schema, parts)?;
    normalize_integers(&mut input);
    Ok(input)
}

fn value_from_parts(schema: &Value, parts: &[Part]) -> Result<Value, Box<Problem>> {
    if let Some(data) = parts.iter().find_map(Part::as_data) {
        return Ok(data.clone());
    }
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    let text = (!texts.is_empty()).then(|| texts.join("\n"));
    if let Some(input) = text.as_deref().and_then(|text| read(schema, text)) {
        return Ok(input);
    }
    if asks_for_nothing(schema) {
        return Ok(text.map_or(Value::Null, Value::String));
    }
    Err(Box::new(Problem {
        path: String::new(),
        code: "type".into(),
        message: "a data part was expected".into(),
        expected: schema.get("type").cloned().unwrap_or_else(|| json!("object")),
        got: text.as_deref().map(|text| Value::String(shorten_text(text))),
        hint: Some("send a part of kind \"data\" whose data satisfies the schema".into()),
    }))
}

/// What people write for yes and no.
pub fn yes_or_no(text: &str) -> Option<bool> {
    match text.trim().trim_end_matches(['.', '!']).to_lowercase().as_str() {
        "yes" | "y" | "true" | "ok" | "okay" | "approved" => Some(true),
        "no" | "n" | "false" | "denied" | "rejected" => Some(false),
        _ => None,
    }
}

fn read(schema: &Value, text: &str) -> Option<Value> {
    if let Some(value) = plain(schema, text) {
        return Some(value);
    }
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    let object = || serde_json::from_str(text).ok().filter(Value::is_object);
    let object: Option<Value> = if is_object { object() } else { None };
    if let Some((name, property)) = only_property(schema)
        && !object.as_ref().is_some_and(|object| is_meant_for(schema, object))
        && let Some(value) = plain(property, text)
    {
        return Some(json!({ name: value }));
    }
    object
}

/// Whether an object that came as text is what the schema asks for, rather than words that happen to be
/// JSON: it has what is required, and where nothing is, only what is known.
fn is_meant_for(schema: &Value, object: &Value) -> bool {
    let required = schema.get("required").and_then(Value::as_array).filter(|all| !all.is_empty());
    let has = |name: &str| object.get(name).is_some();
    match required {
        Some(required) => required.iter().filter_map(Value::as_str).all(has),
        None => {
            let known = |name: &String| schema["properties"].get(name).is_some();
            object.as_object().is_some_and(|object| !object.is_empty() && object.keys().all(known))
        }
    }
}

/// The text as one value of the schema's type.
fn plain(schema: &Value, text: &str) -> Option<Value> {
    match schema.get("type")?.as_str()? {
        "string" => Some(Value::String(text.to_owned())),
        "boolean" => yes_or_no(text).map(Value::Bool),
        "integer" | "number" => serde_json::from_str(text.trim()).ok().filter(Value::is_number),
        _ => None,
    }
}

/// The one property that has to be there.
fn only_property(schema: &Value) -> Option<(&str, &Value)> {
    let mut required = required_names(schema);
    let (Some(name), None) = (required.next(), required.next()) else { return None };
    Some((name, schema.get("properties")?.get(name)?))
}

/// Properties that whoever answers has to give; also those that are wanted of everybody who does not
/// decline (`if`, `then`).
pub fn required_names(schema: &Value) -> impl Iterator<Item = &str> {
    let own = schema.get("required").or_else(|| schema.get("then")?.get("required"));
    let names = own.and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
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

#[cfg(test)]
mod tests;
