//! The fields of a tool's schema.

use serde_json::Value;
use trackway_engine::required_names;

use super::shape::{Shape, resolve};

/// One field of an object's schema.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    pub name: &'a str,
    pub required: bool,
    pub description: Option<&'a str>,
    pub shape: Shape<'a>,
}

/// The fields of an object's schema: the required ones in the schema's order, then the others.
pub(super) fn fields(root: &Value) -> Vec<Field<'_>> {
    let object = resolve(root, root);
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let required: Vec<&str> = required_names(object).collect();
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let names = required.iter().copied().chain(optional);
    names
        .filter_map(|name| {
            let written = properties.get(name)?;
            let shape = Shape::of(root, written);
            let description = [written, shape.schema()]
                .into_iter()
                .find_map(|schema| schema.get("description").and_then(Value::as_str));
            Some(Field { name, required: required.contains(&name), description, shape })
        })
        .collect()
}

/// The field that a user means by a key: `walletAddress`, also written as `wallet_address`.
pub(super) fn find<'a, 'b>(fields: &'b [Field<'a>], key: &str) -> Option<&'b Field<'a>> {
    let folded = |name: &str| {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted: String = folded(key);
    let mut alike = fields.iter().filter(|field| folded(field.name) == wanted);
    fields.iter().find(|field| field.name == key).or_else(|| alike.next())
}

/// Whether the schema allows fields that it does not name.
pub(super) fn is_open(root: &Value) -> bool {
    resolve(root, root).get("additionalProperties") != Some(&Value::Bool(false))
}

/// The shape of a field that no schema speaks of.
pub(super) fn anything() -> Shape<'static> {
    Shape::of(&Value::Null, &Value::Null)
}
