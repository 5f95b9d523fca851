//! Pointers into a schema and into a value.

use serde_json::{Map, Value};

/// References that are followed in a row.
/// Limit (Definitions): references of a schema in a row.
const HOPS_MAX: usize = 16;

/// The target of a reference inside a schema.
pub(crate) fn resolve_schema_reference<'a>(root: &'a Value, to: &str) -> Option<&'a Value> {
    let pointer = to.strip_prefix('#')?;
    // A reference is part of a URI: `%25` is a percent sign, and names with one are rare.
    root.pointer(&pointer.replace("%25", "%"))
}

/// A schema, or its target if it is only a reference.
pub fn follow_schema_references<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..HOPS_MAX {
        match schema.get("$ref").and_then(Value::as_str).and_then(|to| resolve_schema_reference(root, to)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

/// The schema for a pointer into a value, if `properties` and `items` lead there.
pub(super) fn schema_at_pointer<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    let start = follow_schema_references(root, root);
    pointer.split('/').skip(1).try_fold(start, |schema, token| {
        let key = unescape_pointer_token(token);
        let in_list = || match key.parse::<usize>() {
            Ok(index) => schema.get("prefixItems").and_then(|items| items.get(index)).or(schema.get("items")),
            Err(_) => None,
        };
        let property = schema.get("properties").and_then(|properties| properties.get(&key));
        let next = property
            .or_else(in_list)
            .or_else(|| schema.get("additionalProperties").filter(|schema| schema.is_object()))?;
        Some(follow_schema_references(root, next))
    })
}

pub(super) fn unescape_pointer_token(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Puts a value at a pointer and creates objects on the way; at the end of a list it is appended.
pub(crate) fn put_value_at_pointer(root: &mut Value, pointer: &str, value: Value) -> bool {
    let mut slot = root;
    for token in pointer.split('/').skip(1) {
        let key = unescape_pointer_token(token);
        slot = match slot {
            Value::Array(items) => {
                let Ok(at) = key.parse::<usize>() else { return false };
                if at == items.len() {
                    items.push(Value::Null);
                }
                match items.get_mut(at) {
                    Some(item) => item,
                    None => return false,
                }
            }
            Value::Object(object) => object.entry(key).or_insert(Value::Null),
            Value::Null => {
                *slot = Value::Object(Map::new());
                &mut slot[key]
            }
            _ => return false,
        };
    }
    *slot = value;
    true
}
