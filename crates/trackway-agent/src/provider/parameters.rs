//! A tool's schema as providers take it: an object with properties, at least in name.

use serde_json::{Map, Value, json};

/// An object of these fields. They are moved into it, where `json!` would copy them: schemas are long, and
/// are written with every call of a model.
pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// The same schema with `type` and `properties`. Servers refuse tools without them, though a schema may
/// well have neither.
pub(super) fn parameters(schema: &Value) -> Value {
    let mut written = if schema.is_object() { schema.clone() } else { json!({}) };
    if let Some(fields) = written.as_object_mut() {
        fields.entry("type").or_insert_with(|| "object".into());
        fields.entry("properties").or_insert_with(|| json!({}));
    }
    written
}
