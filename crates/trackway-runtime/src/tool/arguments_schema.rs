//! The schema of a call's arguments, made from the schema of an input. Model servers require an object.

use serde_json::{Value, json};

/// The property for an input that is not an object.
const WRAP: &str = "input";

/// The arguments that a model gives for an input.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentsSchema {
    /// Always of the type `object`.
    pub schema: Value,
    /// The input is the property `input` of the arguments.
    pub is_wrapped: bool,
}

impl ArgumentsSchema {
    /// An object keeps its schema; any other input becomes a property of one.
    pub fn from_input_schema(schema: &Value) -> Self {
        let Value::Object(given) = schema else {
            // `true` accepts everything, including an object; any other non-object is not a schema.
            return Self { schema: json!({ "type": "object" }), is_wrapped: false };
        };
        match given.get("type") {
            Some(Value::String(kind)) if kind == "object" => {
                Self { schema: schema.clone(), is_wrapped: false }
            }
            None if !given.contains_key("enum") && !given.contains_key("const") => {
                let mut given = given.clone();
                given.insert("type".to_owned(), "object".into());
                Self { schema: Value::Object(given), is_wrapped: false }
            }
            _ => {
                let schema = json!({ "type": "object", "properties": { WRAP: schema }, "required": [WRAP] });
                Self { schema, is_wrapped: true }
            }
        }
    }

    /// The input that these arguments give.
    pub fn input_from_arguments(arguments: Value, is_wrapped: bool) -> Value {
        match arguments {
            Value::Object(mut object) if is_wrapped => object.remove(WRAP).unwrap_or(Value::Null),
            arguments => arguments,
        }
    }
}
