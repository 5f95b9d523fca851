//! JSON Schemas in definitions: whether they can be used, whether a value fits, and what has to be sent
//! instead.
//!
//! A schema comes from a file, so it is checked before it is compiled: nothing is fetched, patterns match in
//! linear time, and no reference leads back to itself.

mod schema_check;
mod schema_example;
mod schema_needs;
mod schema_pointer;
mod validator_cache;

use serde_json::Value;
use trackway_domain::{BlockReason, InputRequirement, Object};

use crate::schema_cost;

pub(crate) use schema_check::find_schema_error;
pub(crate) use schema_example::example_for_subschema;
pub use schema_example::{ExampleFillValues, example_value_for_schema};
pub(crate) use schema_needs::truncate_value_for_display;
pub use schema_pointer::follow_schema_references;
pub(crate) use schema_pointer::{put_value_at_pointer, resolve_schema_reference};
use validator_cache::get_or_compile_schema;

/// What is wrong with a value at this pointer of the call's arguments; empty if it fits. `example` is a value
/// that fits.
pub(crate) fn find_schema_needs(
    schema: &Value,
    value: &Value,
    pointer: &str,
    example: Option<&Value>,
) -> Vec<InputRequirement> {
    match get_or_compile_schema(schema) {
        Ok(validator) if validator.is_valid(value) => Vec::new(),
        Ok(_)
            if schema_cost::has_too_many_values(value)
                || !schema_cost::can_list_all_errors(schema, value) =>
        {
            vec![schema_needs::need_without_details(schema, pointer, example)]
        }
        Ok(validator) => schema_needs::needs_of_invalid_value(&validator, schema, value, pointer, example),
        // The reader of definitions refuses such a schema; no value can be checked against it.
        Err(_) => Vec::new(),
    }
}

/// Why an example does not fit its schema, for the reader of definitions.
pub(crate) fn find_example_error(schema: &Value, example: &Value) -> Option<String> {
    let validator = get_or_compile_schema(schema).ok()?;
    let error = validator.iter_errors(example).next()?;
    Some(format!("The example does not fit the schema: {} ({})", error, error.instance_path()))
}

/// Whether a context fits the definition's schema for it.
pub(crate) fn check_context_against_schema(schema: &Value, context: &Object) -> Result<(), BlockReason> {
    let needs = find_schema_needs(schema, &Value::Object(context.clone()), "/context", None);
    let Some(first) = needs.first() else { return Ok(()) };
    let is_missing = needs.iter().all(|need| need.got.is_none());
    let code = if is_missing { "context-missing" } else { "context-invalid" };
    Err(BlockReason { code: code.to_owned(), message: first.message.clone(), needs })
}

#[cfg(test)]
pub(crate) mod tests;
