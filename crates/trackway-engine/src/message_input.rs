//! How the parts of a message become the input that a schema requires.

use serde_json::{Value, json};
use trackway_domain::{
    ParsedAnswer, Part, Question, ValidationError, WorkflowRef, limit_validation_errors, normalize_integers,
    shorten_text,
};

use crate::SchemaChecker;

/// The answer that a message contains, and what is wrong with it.
pub fn parse_question_answer(
    workflow: &WorkflowRef,
    question: &Question,
    parts: &[Part],
    schemas: &dyn SchemaChecker,
) -> ParsedAnswer {
    let (input, problems) = match input_from_parts(&question.schema, parts) {
        Ok(input) => {
            let problems = schemas.check_question_answer(workflow, question, &input);
            (input, limit_validation_errors(problems))
        }
        Err(problem) => (Value::Null, vec![*problem]),
    };
    ParsedAnswer { question: question.id, input, problems }
}

/// The first data part is the input. Without one, text can be the JSON of an object that the schema
/// requires. Otherwise text can be one plain value (a string, a number, or yes or no), if the schema
/// requires one, directly or as the only required property of an object. A schema without constraints
/// accepts any message: its data, else its text, else null; programs read files from the message itself.
/// Integral numbers become integers.
pub fn input_from_parts(schema: &Value, parts: &[Part]) -> Result<Value, Box<ValidationError>> {
    let mut input = value_from_parts(schema, parts)?;
    normalize_integers(&mut input);
    Ok(input)
}

fn value_from_parts(schema: &Value, parts: &[Part]) -> Result<Value, Box<ValidationError>> {
    if let Some(data) = parts.iter().find_map(Part::as_data) {
        return Ok(data.clone());
    }
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    let text = (!texts.is_empty()).then(|| texts.join("\n"));
    if let Some(input) = text.as_deref().and_then(|text| value_from_text(schema, text)) {
        return Ok(input);
    }
    if accepts_any_value(schema) {
        return Ok(text.map_or(Value::Null, Value::String));
    }
    Err(Box::new(ValidationError {
        path: String::new(),
        code: "type".into(),
        message: "a data part was expected".into(),
        expected: schema.get("type").cloned().unwrap_or_else(|| json!("object")),
        got: text.as_deref().map(|text| Value::String(shorten_text(text))),
        hint: Some("send a part of kind \"data\" whose data satisfies the schema".into()),
    }))
}

/// The words that people use for yes and no.
pub fn parse_yes_or_no(text: &str) -> Option<bool> {
    match text.trim().trim_end_matches(['.', '!']).to_lowercase().as_str() {
        "yes" | "y" | "true" | "ok" | "okay" | "approved" => Some(true),
        "no" | "n" | "false" | "denied" | "rejected" => Some(false),
        _ => None,
    }
}

fn value_from_text(schema: &Value, text: &str) -> Option<Value> {
    if let Some(value) = scalar_from_text(schema, text) {
        return Some(value);
    }
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    let object = || serde_json::from_str(text).ok().filter(Value::is_object);
    let object: Option<Value> = if is_object { object() } else { None };
    if let Some((name, property)) = only_required_property(schema)
        && !object.as_ref().is_some_and(|object| has_expected_properties(schema, object))
        && let Some(value) = scalar_from_text(property, text)
    {
        return Some(json!({ name: value }));
    }
    object
}

/// Whether an object that came as text is meant for the schema, and is not just text that happens to be
/// JSON: it has the required properties, or, if none is required, only known ones.
fn has_expected_properties(schema: &Value, object: &Value) -> bool {
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
fn scalar_from_text(schema: &Value, text: &str) -> Option<Value> {
    match schema.get("type")?.as_str()? {
        "string" => Some(Value::String(text.to_owned())),
        "boolean" => parse_yes_or_no(text).map(Value::Bool),
        "integer" | "number" => serde_json::from_str(text.trim()).ok().filter(Value::is_number),
        _ => None,
    }
}

/// The only required property.
fn only_required_property(schema: &Value) -> Option<(&str, &Value)> {
    let mut required = required_properties(schema);
    let (Some(name), None) = (required.next(), required.next()) else { return None };
    Some((name, schema.get("properties")?.get(name)?))
}

/// Properties that an answer must have, including those that are required unless the answer declines
/// (`if`, `then`).
pub fn required_properties(schema: &Value) -> impl Iterator<Item = &str> {
    let own = schema.get("required").or_else(|| schema.get("then")?.get("required"));
    let names = own.and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Keywords of a schema that describe a value without constraining it.
const ANNOTATIONS: [&str; 7] = ["$schema", "$id", "$comment", "title", "description", "default", "examples"];

fn accepts_any_value(schema: &Value) -> bool {
    match schema {
        Value::Bool(allowed) => *allowed,
        Value::Object(rules) => rules.keys().all(|rule| ANNOTATIONS.contains(&rule.as_str())),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
