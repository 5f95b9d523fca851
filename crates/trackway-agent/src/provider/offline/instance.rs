//! Answers of a given form: what JSON in the prompt says, and the least that the schema allows for the
//! rest. Text is marked, so that nobody takes it for something that was thought of.

use serde_json::{Map, Value};
use trackway_definition::{Filling, example_value, resolved};

use crate::form::{Kind, Shape};

/// Nothing is agreed to, and nothing is listed that nobody asked for.
const FILLING: Filling = Filling { text: "offline-rules/1: no text", boolean: false, items: 0 };

/// An answer of this schema.
pub(super) fn fill(schema: &Value, prompt: &str) -> Value {
    let given: Vec<Map<String, Value>> =
        objects(prompt).into_iter().filter(|object| schema.as_object() != Some(object)).collect();
    let mut answer = example_value(schema, FILLING);
    let properties = resolved(schema, schema).get("properties").and_then(Value::as_object);
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
