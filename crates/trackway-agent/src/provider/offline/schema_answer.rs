//! Answers that must match a schema: values from JSON in the prompt, and the smallest valid value for
//! everything else. Generated text is marked, so that no reader takes it for a real answer.

use serde_json::{Map, Value};
use trackway_definition::{ExampleFillValues, example_value_for_schema, follow_schema_references};

use crate::schema_form::{FieldValueKind, FieldValueShape};

/// Booleans are false and lists are empty unless the prompt has a value.
const FILLING: ExampleFillValues =
    ExampleFillValues { text: "offline-rules/1: no text", boolean: false, items: 0 };

/// An answer of this schema.
pub(super) fn answer_for_schema(schema: &Value, prompt: &str) -> Value {
    let given: Vec<Map<String, Value>> =
        find_json_objects(prompt).into_iter().filter(|object| schema.as_object() != Some(object)).collect();
    let mut answer = example_value_for_schema(schema, FILLING);
    let properties = follow_schema_references(schema, schema).get("properties").and_then(Value::as_object);
    if let (Value::Object(answer), Some(properties)) = (&mut answer, properties) {
        for (name, property) in properties {
            let shape = FieldValueShape::shape_from_schema(schema, property);
            let fits = |value: &&Value| {
                shape.accepts_kind(FieldValueKind::kind_of_value(value))
                    || value.is_number() && shape.accepts_kind(FieldValueKind::Number)
            };
            if let Some(value) = given.iter().filter_map(|object| object.get(name)).find(fits) {
                answer.insert(name.clone(), value.clone());
            }
        }
    }
    answer
}

/// The JSON objects in a text.
pub(super) fn find_json_objects(text: &str) -> Vec<Map<String, Value>> {
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
