//! JSON Schemas in definitions: whether they can be used, whether a value fits, and what has to be sent
//! instead.
//!
//! A schema comes from a file, so it is checked before it is compiled: nothing is fetched, patterns match in
//! linear time, and no reference leads back to itself.

mod compile_cache;
mod example;
mod schema_check;
mod schema_needs;
mod schema_pointer;

use serde_json::Value;
use trackway_domain::{BlockReason, InputRequirement, Object};

use crate::schema_cost;

use compile_cache::compiled_schema;
pub(crate) use example::example_for;
pub use example::{ExampleFiller, example_value};
pub(crate) use schema_check::schema_fault;
pub(crate) use schema_needs::truncate_value;
pub use schema_pointer::follow_references;
pub(crate) use schema_pointer::{put_at_pointer, target};

/// What is wrong with a value at this pointer of the call's arguments; empty if it fits. `example` is a value
/// that fits.
pub(crate) fn find_schema_needs(
    schema: &Value,
    value: &Value,
    at: &str,
    example: Option<&Value>,
) -> Vec<InputRequirement> {
    match compiled_schema(schema) {
        Ok(validator) if validator.is_valid(value) => Vec::new(),
        Ok(_) if schema_cost::has_many_values(value) || !schema_cost::can_list_errors(schema, value) => {
            vec![schema_needs::undetailed_need(schema, at, example)]
        }
        Ok(validator) => schema_needs::needs_of_value(&validator, schema, value, at, example),
        // The reader of definitions refuses such a schema; no value can be checked against it.
        Err(_) => Vec::new(),
    }
}

/// Why an example does not fit its schema, for the reader of definitions.
pub(crate) fn example_error(schema: &Value, example: &Value) -> Option<String> {
    let validator = compiled_schema(schema).ok()?;
    let error = validator.iter_errors(example).next()?;
    Some(format!("The example does not fit the schema: {} ({})", error, error.instance_path()))
}

/// Whether a context fits the definition's schema for it.
pub(crate) fn check_context(schema: &Value, context: &Object) -> Result<(), BlockReason> {
    let needs = find_schema_needs(schema, &Value::Object(context.clone()), "/context", None);
    let Some(first) = needs.first() else { return Ok(()) };
    let is_missing = needs.iter().all(|need| need.got.is_none());
    let code = if is_missing { "context-missing" } else { "context-invalid" };
    Err(BlockReason { code: code.to_owned(), message: first.message.clone(), needs })
}

#[cfg(test)]
pub(crate) mod tests;
