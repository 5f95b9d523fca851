//! Input schemas as models take them: arguments are always an object.

use serde_json::{Map, Value, json};

/// The property that holds an input which is not an object.
pub(super) const WRAP: &str = "input";

/// The schema of the arguments, and whether the input is only the property [`WRAP`] of them.
pub(super) fn for_model(schema: &Value) -> (Value, bool) {
    let Value::Object(given) = schema else {
        // `true` takes everything, an object too; anything else is no schema and says nothing.
        return (json!({ "type": "object" }), false);
    };
    match given.get("type") {
        Some(Value::String(kind)) if kind == "object" => (schema.clone(), false),
        None if !given.contains_key("enum") && !given.contains_key("const") => {
            (object(given.clone()), false)
        }
        _ => {
            let property =
                json!({ "type": "object", "properties": { WRAP: schema }, "required": [WRAP] });
            (property, true)
        }
    }
}

/// The schema with the type that servers want to see at its root.
fn object(mut schema: Map<String, Value>) -> Value {
    schema.insert("type".to_owned(), "object".into());
    Value::Object(schema)
}
