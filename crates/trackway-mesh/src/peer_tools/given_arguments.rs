//! Arguments as models give them: an absent value is often `null`, and the whole is sometimes missing.

use serde_json::{Map, Value, json};
use trackway_domain::{ValidationError, shorten_value};
use trackway_engine::SchemaChecker;

/// Rounds in which values that are null are left out. Each uncovers at most one level of nesting.
/// Limit (Mesh): levels at which a null of a model counts as not given.
const NULL_ROUNDS_MAX: usize = 16;

/// The arguments as an object. No arguments are an empty one.
pub(super) fn object_of_arguments(arguments: Value) -> Result<Map<String, Value>, Vec<ValidationError>> {
    match arguments {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Map::new()),
        other => Err(vec![argument_type_error("", "object", &other)]),
    }
}

/// The names of the arguments that have a value.
pub(super) fn names_of_given(arguments: Map<String, Value>) -> Vec<String> {
    arguments.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name).collect()
}

/// The arguments, if they satisfy the schema. A null that the schema does not allow counts as not given.
/// Otherwise everything that is wrong.
pub(super) fn check_without_nulls(
    schemas: &dyn SchemaChecker,
    schema: &Value,
    arguments: Map<String, Value>,
) -> Result<Value, Vec<ValidationError>> {
    let mut arguments = Value::Object(arguments);
    let mut problems = schemas.check_against_schema(schema, &arguments);
    for _ in 0..NULL_ROUNDS_MAX {
        // A problem inside a choice has no path of its own: then every null at the root may be the cause.
        let removed = problems.iter().filter(|problem| remove_null(&mut arguments, &problem.path)).count();
        if problems.is_empty() || removed == 0 {
            break;
        }
        problems = schemas.check_against_schema(schema, &arguments);
    }
    if problems.is_empty() {
        return Ok(arguments);
    }
    let without = without_nulls_at_root(&arguments);
    if without != arguments && schemas.check_against_schema(schema, &without).is_empty() {
        return Ok(without);
    }
    Err(problems)
}

pub(super) fn argument_type_error(name: &str, expected: &str, got: &Value) -> ValidationError {
    let path = if name.is_empty() { String::new() } else { format!("/{name}") };
    let what = if name.is_empty() { "the arguments are".to_owned() } else { format!("{name:?} is") };
    ValidationError {
        path,
        code: "type".to_owned(),
        message: format!("{what} not of the type {expected}"),
        expected: json!(expected),
        got: Some(shorten_value(got)),
        hint: None,
    }
}

/// Removes a property that is null. Returns whether there was one at that place.
fn remove_null(value: &mut Value, path: &str) -> bool {
    if value.pointer(path) != Some(&Value::Null) {
        return false;
    }
    let Some((parent, name)) = path.rsplit_once('/') else { return false };
    let name = name.replace("~1", "/").replace("~0", "~");
    match value.pointer_mut(parent) {
        Some(Value::Object(object)) => object.remove(&name).is_some(),
        _ => false,
    }
}

fn without_nulls_at_root(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let given = object.iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}
