//! Schemas of answers in the form that the format accepts: every object closed, limits described in
//! words.
//!
//! The caller checks the answer against the whole schema, so a limit that is only described in words is
//! still enforced.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Levels of a schema that are converted. A deeper or recursive schema is described in words.
/// Limit (Agents): levels of an output schema that an Anthropic model is given as a form.
const DEPTH_MAX: usize = 32;

/// Keywords that may appear in a schema, in addition to those that contain schemas.
const TAKEN: &[&str] = &["type", "enum", "const", "description", "title", "default", "required", "$ref"];
/// Supported string formats.
const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
/// Keywords that do not restrict a value.
const SILENT: &[&str] = &["$schema", "$id", "$comment", "examples", "additionalProperties"];

/// The schema in the form that the provider enforces; none if it cannot be converted.
pub(super) fn to_strict_schema(schema: &Value) -> Option<Value> {
    let is_object = schema["type"] == "object" && schema["properties"].is_object();
    if !is_object || has_unresolvable_references(schema) {
        None
    } else {
        to_strict_subschema(schema, DEPTH_MAX)
    }
}

/// The instruction for the model if the provider cannot enforce the schema.
pub(super) fn schema_prompt_instruction(schema: &Value) -> String {
    format!("\n\nAnswer with nothing but one JSON value, without a code fence. It has this schema: {schema}")
}

fn to_strict_subschema(schema: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let object = schema.as_object().filter(|object| !object.is_empty())?;
    let mut taken = Map::new();
    let mut words: Vec<String> = Vec::new();
    for (key, value) in object {
        let kept = match key.as_str() {
            "properties" | "$defs" | "definitions" => {
                let inner = value.as_object()?.iter();
                let inner =
                    inner.map(|(name, schema)| Some((name.clone(), to_strict_subschema(schema, depth)?)));
                Some(Value::Object(inner.collect::<Option<Map<_, _>>>()?))
            }
            "items" => Some(to_strict_subschema(value, depth)?),
            "anyOf" | "oneOf" | "allOf" => {
                let inner = value.as_array()?.iter();
                let inner: Option<Vec<Value>> =
                    inner.map(|schema| to_strict_subschema(schema, depth)).collect();
                Some(Value::Array(inner?))
            }
            "format" => value.as_str().is_some_and(|it| FORMATS.contains(&it)).then(|| value.clone()),
            "minItems" => value.as_u64().is_some_and(|least| least <= 1).then(|| value.clone()),
            known if TAKEN.contains(&known) => Some(value.clone()),
            _ => None,
        };
        // The format does not support several branches that may be valid at once.
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
        // A map with arbitrary keys cannot be closed.
        return None;
    }
    if !words.is_empty() {
        let said = taken.get("description").and_then(Value::as_str).map(|said| format!("{said} "));
        let said = format!("{}({})", said.unwrap_or_default(), words.join(", "));
        taken.insert("description".to_owned(), Value::String(said));
    }
    Some(Value::Object(taken))
}

/// Whether a reference leaves the schema or is recursive. The format rejects both.
fn has_unresolvable_references(root: &Value) -> bool {
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut open = vec![];
    collect_schema_references(root, DEPTH_MAX, &mut open);
    while let Some(target) = open.pop() {
        if known.contains_key(target) {
            continue;
        }
        let Some(schema) = target.strip_prefix('#').and_then(|path| root.pointer(path)) else {
            return true;
        };
        let mut inner = vec![];
        collect_schema_references(schema, DEPTH_MAX, &mut inner);
        open.extend(&inner);
        known.insert(target, inner);
    }
    // Removes definitions that refer to no remaining definition. Everything that is left is recursive.
    while let Some(leaf) = known.iter().find(|(_, inner)| inner.is_empty()).map(|(target, _)| *target) {
        known.remove(leaf);
        known.values_mut().for_each(|inner| inner.retain(|target| *target != leaf));
    }
    !known.is_empty()
}

/// The references in a schema.
fn collect_schema_references<'a>(schema: &'a Value, depth: usize, found: &mut Vec<&'a str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match schema {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|inner| collect_schema_references(inner, depth, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| collect_schema_references(inner, depth, found)),
        _ => {}
    }
}
