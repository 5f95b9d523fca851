//! JSON Schemas that definitions bring along: whether they can be used, whether a value fits, and what
//! would have to be sent instead.
//!
//! A schema comes from a file, so it is looked at before it is compiled: nothing is fetched, patterns
//! match in linear time, and no reference leads back to itself.

mod compiled;
mod example;
mod fault;
mod needs;
mod place;

use serde_json::Value;
use trackway_domain::{Block, Need, Object};

use crate::effort;

use compiled::compiled;
pub(crate) use example::made;
pub use example::{Filling, example_value};
pub(crate) use fault::schema_fault;
pub(crate) use needs::cut;
pub use place::resolved;
pub(crate) use place::{put, target};

/// What is wrong with a value at a place of the call's arguments; nothing where it fits. `example` is a
/// value that fits.
pub(crate) fn needs(schema: &Value, value: &Value, at: &str, example: Option<&Value>) -> Vec<Need> {
    match compiled(schema) {
        Ok(validator) if validator.is_valid(value) => Vec::new(),
        Ok(_) if effort::has_many_values(value) || !effort::can_list_errors(schema, value) => {
            vec![needs::without_details(schema, at, example)]
        }
        Ok(validator) => needs::of(&validator, schema, value, at, example),
        // Whoever reads definitions refuses such a schema; a value cannot be held against it.
        Err(_) => Vec::new(),
    }
}

/// Why an example does not fit its schema, for whoever reads a definition.
pub(crate) fn example_fault(schema: &Value, example: &Value) -> Option<String> {
    let validator = compiled(schema).ok()?;
    let error = validator.iter_errors(example).next()?;
    Some(format!("The example does not fit the schema: {} ({})", error, error.instance_path()))
}

/// Whether a context fits the schema that a definition has for it.
pub(crate) fn check_context(schema: &Value, context: &Object) -> Result<(), Block> {
    let needs = needs(schema, &Value::Object(context.clone()), "/context", None);
    let Some(first) = needs.first() else { return Ok(()) };
    let is_missing = needs.iter().all(|need| need.got.is_none());
    let code = if is_missing { "context-missing" } else { "context-invalid" };
    Err(Block { code: code.to_owned(), message: first.message.clone(), needs })
}

#[cfg(test)]
pub(crate) mod tests;
