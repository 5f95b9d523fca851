//! Answers of a given form: what JSON in the prompt says, and the least that the schema allows for the
//! rest. Text is marked, so that nobody takes it for something that was thought of.

use serde_json::{Map, Value, json};
use trackway_engine::required_names;

use super::{
    LABEL,
    shape::{Kind, Shape, resolve},
};

/// Levels of objects and lists that are filled; a schema that contains itself ends here.
/// Limit (Agents): levels of a schema that the offline model fills.
const DEPTH_MAX: usize = 16;
/// Values that are made, whatever the schema asks for: lists in lists, and fields that lead back to
/// their own object, are more than anybody reads.
/// Limit (Agents): values that the offline model makes for one schema.
const VALUES_MAX: usize = 2_000;
/// Length of texts that are padded, likewise.
/// Limit (Agents): length of a text that the offline model makes.
const TEXT_MAX: u64 = 10_000;

/// An answer of this schema.
pub(super) fn fill(schema: &Value, prompt: &str) -> Value {
    let given: Vec<Map<String, Value>> =
        objects(prompt).into_iter().filter(|object| schema.as_object() != Some(object)).collect();
    let mut answer = Making { root: schema, left: VALUES_MAX }.least(schema, DEPTH_MAX);
    let properties = resolve(schema, schema).get("properties").and_then(Value::as_object);
    if let (Value::Object(answer), Some(properties)) = (&mut answer, properties) {
        for (name, property) in properties {
            let shape = Shape::of(schema, property);
            let fits = |value: &&Value| {
                shape.takes(Kind::of(value)) || value.is_number() && shape.takes(Kind::Number)
            };
            if let Some(value) = given.iter().filter_map(|object| object.get(name)).find(fits) {
                answer.insert(name.clone(), value.clone());
            }
        }
    }
    answer
}

/// The JSON objects that stand in a text.
pub(super) fn objects(text: &str) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let candidate = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(candidate).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(object))) => {
                rest = &candidate[values.byte_offset()..];
                found.push(object);
            }
            _ => rest = &candidate[1..],
        }
    }
    found
}

/// A value while it is made.
struct Making<'a> {
    root: &'a Value,
    /// Values that may still be made.
    left: usize,
}

impl Making<'_> {
    /// The least value that the schema allows.
    fn least(&mut self, schema: &Value, depth: usize) -> Value {
        let schema = resolve(self.root, schema);
        // Counted also where it is too deep to be filled: a list would take such values without end.
        let Some(left) = self.left.checked_sub(1) else { return Value::Null };
        self.left = left;
        let Some(depth) = depth.checked_sub(1) else { return Value::Null };
        let first = |key: &str| schema.get(key).and_then(|list| list.get(0));
        if let Some(value) = schema.get("const").or(schema.get("default")).or(first("enum")) {
            return value.clone();
        }
        if let Some(branch) = first("anyOf").or(first("oneOf")) {
            return self.least(branch, depth);
        }
        let shape = Shape::of(self.root, schema);
        let kinds = &shape.kinds;
        if kinds.contains(&Kind::Null) {
            Value::Null
        } else if kinds.contains(&Kind::Object) || kinds.is_empty() && is_object(schema) {
            self.object(schema, depth)
        } else if kinds.contains(&Kind::List) {
            self.list(schema, depth)
        } else if kinds.contains(&Kind::Boolean) {
            Value::Bool(false)
        } else if shape.is_number() {
            number(schema, kinds.contains(&Kind::Integer))
        } else {
            Value::String(text(schema))
        }
    }

    fn list(&mut self, schema: &Value, depth: usize) -> Value {
        let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let items = schema.get("items").unwrap_or(&Value::Null);
        let mut list = Vec::new();
        while (list.len() as u64) < count && self.left > 0 {
            list.push(self.least(items, depth));
        }
        Value::Array(list)
    }

    /// The required fields, those of `allOf` as well.
    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut found = Map::new();
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            if let Value::Object(fields) = self.least(part, depth) {
                found.extend(fields);
            }
        }
        for name in required_names(schema) {
            let field = schema.get("properties").and_then(|properties| properties.get(name));
            found.insert(name.to_owned(), self.least(field.unwrap_or(&Value::Null), depth));
        }
        Value::Object(found)
    }
}

fn is_object(schema: &Value) -> bool {
    ["properties", "required", "allOf"].iter().any(|key| schema.get(key).is_some())
}

/// Zero, or the bound that is nearest to it.
fn number(schema: &Value, is_integer: bool) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let unit = step.unwrap_or(if is_integer { 1.0 } else { 0.5 });
    let mut value: f64 = 0.0;
    if let Some(least) = bound("minimum").filter(|least| *least > 0.0) {
        value = (least / unit).ceil() * unit;
    }
    if let Some(least) = bound("exclusiveMinimum").filter(|least| *least >= value) {
        value = ((least / unit).floor() + 1.0) * unit;
    }
    if let Some(most) = bound("maximum").filter(|most| *most < value) {
        value = (most / unit).floor() * unit;
    }
    if let Some(most) = bound("exclusiveMaximum").filter(|most| *most <= value) {
        value = ((most / unit).ceil() - 1.0) * unit;
    }
    // Whole numbers are written without a fraction, which integers have to be.
    match format!("{value:.0}").parse::<i64>() {
        Ok(whole) if value.fract() == 0.0 => json!(whole),
        _ => json!(value),
    }
}

/// Text that says that it is none, as long as the schema wants it.
fn text(schema: &Value) -> String {
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    let mut text = match schema.get("format").and_then(Value::as_str) {
        Some("date") => "1970-01-01".to_owned(),
        Some("date-time") => "1970-01-01T00:00:00Z".to_owned(),
        Some("time") => "00:00:00Z".to_owned(),
        Some("email") => "offline-rules@example.invalid".to_owned(),
        Some("uri" | "url") => "https://example.invalid/offline-rules".to_owned(),
        Some("uuid") => "00000000-0000-0000-0000-000000000000".to_owned(),
        _ => format!("{LABEL}: no text"),
    };
    let least = length("minLength").unwrap_or(0).min(TEXT_MAX);
    while (text.chars().count() as u64) < least {
        text.push('.');
    }
    match length("maxLength").and_then(|most| usize::try_from(most).ok()) {
        Some(most) => text.chars().take(most).collect(),
        None => text,
    }
}
