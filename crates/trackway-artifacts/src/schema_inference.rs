//! The JSON Schema that a value satisfies, as a description of content for those who have not read it.

use serde_json::{Map, Value, json};

/// Deeper values are described by their type only.
/// Limit (Artifacts): levels of an inferred schema.
const DEPTH_MAX: usize = 8;

/// Limit (Artifacts): properties of one object in an inferred schema.
const PROPERTIES_MAX: usize = 200;

/// The items of a list are usually alike.
/// Limit (Artifacts): items of a list that an inferred schema looks at.
const ITEMS_MAX: usize = 100;

/// A schema that the value satisfies: types, properties, which of them every item of a list has, and items.
pub fn infer_schema(value: &Value) -> Value {
    infer_at_depth(value, DEPTH_MAX)
}

fn infer_at_depth(value: &Value, depth: usize) -> Value {
    let mut schema = json!({"type": type_name(value)});
    let Some(inner) = depth.checked_sub(1) else { return schema };
    match value {
        Value::Object(entries) if entries.len() <= PROPERTIES_MAX => {
            let properties: Map<String, Value> =
                entries.iter().map(|(name, entry)| (name.clone(), infer_at_depth(entry, inner))).collect();
            let required: Vec<&String> = entries.keys().collect();
            schema["required"] = json!(required);
            schema["properties"] = Value::Object(properties);
        }
        // Only a list that was looked at completely has a schema for its items that certainly holds.
        Value::Array(items) if !items.is_empty() && items.len() <= ITEMS_MAX => {
            let merged = items.iter().map(|item| infer_at_depth(item, inner)).reduce(merge_schemas);
            schema["items"] = merged.unwrap_or_else(|| json!({}));
        }
        _ => {}
    }
    schema
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A schema for values of both.
fn merge_schemas(mut one: Value, mut other: Value) -> Value {
    if one == other {
        return one;
    }
    let types = merge_types(&one["type"], &other["type"]);
    let mut merged = json!({"type": types});
    if let (Some(Value::Object(ours)), Some(Value::Object(theirs))) =
        (take(&mut one, "properties"), take(&mut other, "properties"))
    {
        merged["properties"] = merge_properties(ours, theirs);
        let theirs = required_names(&other);
        let both: Vec<String> = required_names(&one).into_iter().filter(|it| theirs.contains(it)).collect();
        merged["required"] = json!(both);
    }
    if let (Some(ours), Some(theirs)) = (take(&mut one, "items"), take(&mut other, "items")) {
        merged["items"] = merge_schemas(ours, theirs);
    }
    merged
}

/// An integer is also a number.
fn merge_types(one: &Value, other: &Value) -> Value {
    let mut types: Vec<&str> = type_names(one).into_iter().chain(type_names(other)).collect();
    types.sort_unstable();
    types.dedup();
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    match types[..] {
        [only] => json!(only),
        _ => json!(types),
    }
}

fn type_names(types: &Value) -> Vec<&str> {
    match types {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    }
}

fn merge_properties(mut ours: Map<String, Value>, theirs: Map<String, Value>) -> Value {
    for (name, schema) in theirs {
        let merged = match ours.remove(&name) {
            Some(own) => merge_schemas(own, schema),
            None => schema,
        };
        ours.insert(name, merged);
    }
    Value::Object(ours)
}

fn required_names(schema: &Value) -> Vec<String> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn take(schema: &mut Value, key: &str) -> Option<Value> {
    schema.as_object_mut()?.remove(key)
}

#[cfg(test)]
mod tests;
