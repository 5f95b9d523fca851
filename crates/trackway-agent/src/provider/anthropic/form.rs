//! Schemas of answers as the format takes them: every object closed, bounds in words.
//!
//! The answer is checked against the whole schema by whoever asked, so what is only in words here is
//! not lost.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Levels of a schema that are looked into. One that is deeper, or contains itself, goes in words.
/// Limit (Agents): levels of an output schema that an Anthropic model is given as a form.
const DEPTH_MAX: usize = 32;

/// What may stand in a schema, beside what holds schemas itself.
const TAKEN: &[&str] =
    &["type", "enum", "const", "description", "title", "default", "required", "$ref"];
/// Formats that are taken.
const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
/// What says nothing about a value.
const SILENT: &[&str] = &["$schema", "$id", "$comment", "examples", "additionalProperties"];

/// The schema in the form that binds the model; nothing where it has none.
pub(super) fn strict(schema: &Value) -> Option<Value> {
    let is_object = schema["type"] == "object" && schema["properties"].is_object();
    if !is_object || is_endless(schema) { None } else { narrow(schema, DEPTH_MAX) }
}

/// What the model is told where a schema cannot bind it.
pub(super) fn in_words(schema: &Value) -> String {
    format!(
        "\n\nAnswer with nothing but one JSON value, without a code fence. It has this schema: {schema}"
    )
}

fn narrow(schema: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let object = schema.as_object().filter(|object| !object.is_empty())?;
    let mut taken = Map::new();
    let mut words: Vec<String> = Vec::new();
    for (key, value) in object {
        let kept = match key.as_str() {
            "properties" | "$defs" | "definitions" => {
                let inner = value.as_object()?.iter();
                let inner =
                    inner.map(|(name, schema)| Some((name.clone(), narrow(schema, depth)?)));
                Some(Value::Object(inner.collect::<Option<Map<_, _>>>()?))
            }
            "items" => Some(narrow(value, depth)?),
            "anyOf" | "oneOf" | "allOf" => {
                let inner = value.as_array()?.iter();
                let inner: Option<Vec<Value>> = inner.map(|schema| narrow(schema, depth)).collect();
                Some(Value::Array(inner?))
            }
            "format" => {
                value.as_str().is_some_and(|it| FORMATS.contains(&it)).then(|| value.clone())
            }
            "minItems" => value.as_u64().is_some_and(|least| least <= 1).then(|| value.clone()),
            known if TAKEN.contains(&known) => Some(value.clone()),
            _ => None,
        };
        // Several branches that may hold at once are not a thing here.
        let key = if key == "oneOf" { "anyOf" } else { key };
        match kept {
            Some(kept) => _ = taken.insert(key.to_owned(), kept),
            None if SILENT.contains(&key) => {}
            None => words.push(format!("{key}: {value}")),
        }
    }
    let is_map = object.get("additionalProperties").is_some_and(|more| *more != json!(false));
    if object.contains_key("properties") {
        taken.insert("additionalProperties".to_owned(), json!(false));
    } else if is_map || object.get("type") == Some(&json!("object")) {
        // A map of any keys cannot be closed.
        return None;
    }
    if !words.is_empty() {
        let said = taken.get("description").and_then(Value::as_str).map(|said| format!("{said} "));
        let said = format!("{}({})", said.unwrap_or_default(), words.join(", "));
        taken.insert("description".to_owned(), Value::String(said));
    }
    Some(Value::Object(taken))
}

/// Whether a reference leads out of the schema, or back to where it stands: neither is taken.
fn is_endless(root: &Value) -> bool {
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut open = vec![];
    references(root, DEPTH_MAX, &mut open);
    while let Some(target) = open.pop() {
        if known.contains_key(target) {
            continue;
        }
        let Some(schema) = target.strip_prefix('#').and_then(|path| root.pointer(path)) else {
            return true;
        };
        let mut inner = vec![];
        references(schema, DEPTH_MAX, &mut inner);
        open.extend(&inner);
        known.insert(target, inner);
    }
    // What is left when everything that leads nowhere else is taken away leads in circles.
    while let Some(leaf) =
        known.iter().find(|(_, inner)| inner.is_empty()).map(|(target, _)| *target)
    {
        known.remove(leaf);
        known.values_mut().for_each(|inner| inner.retain(|target| *target != leaf));
    }
    !known.is_empty()
}

/// The references that stand in a schema.
fn references<'a>(schema: &'a Value, depth: usize, found: &mut Vec<&'a str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match schema {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|inner| references(inner, depth, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| references(inner, depth, found)),
        _ => {}
    }
}
