//! The context that a run begins with fits what its definition asks for.

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;
use trackway_domain::{Block, Need, Object};

use crate::{example, model::Definition, walk::lost};

/// Needs that one answer names. Someone who sent the wrong thing altogether is not helped by hundreds.
const NEEDS_MAX: usize = 20;

pub(crate) fn check(definition: &Definition, context: &Object) -> Result<(), Block> {
    let Some(schema) = &definition.input else {
        return Ok(());
    };
    let validator = jsonschema::validator_for(schema)
        .map_err(|error| lost(format!("the definition's `input` is no schema: {error}")))?;
    let context = Value::Object(context.clone());
    let errors = validator.iter_errors(&context).take(NEEDS_MAX);
    let needs: Vec<(bool, Need)> = errors.map(|error| need(schema, &error)).collect();
    if needs.is_empty() {
        return Ok(());
    }
    let missing = needs.iter().all(|(missing, _)| *missing);
    let code = if missing { "context-missing" } else { "context-invalid" };
    let message = "the context is not what this workflow begins with".to_owned();
    let needs = needs.into_iter().map(|(_, need)| need).collect();
    Err(Block { code: code.to_owned(), message, needs })
}

/// Whether something is missing rather than wrong, and the need.
fn need(schema: &Value, error: &jsonschema::ValidationError<'_>) -> (bool, Need) {
    let place = error.instance_path().as_str();
    let message = error.to_string();
    if let ValidationErrorKind::Required { property } = error.kind() {
        let name = property.as_str().unwrap_or_default();
        let escaped = name.replace('~', "~0").replace('/', "~1");
        let pointer = format!("/context{place}/{escaped}");
        // The schema of the property lies beside `required`, in the place that the error names.
        let above = error.schema_path().as_str().trim_end_matches("/required");
        let wanted =
            schema.pointer(above).and_then(|schema| schema.get("properties")?.get(name)).cloned();
        let example = example::of(wanted.as_ref().unwrap_or(&Value::Null));
        let need = Need { pointer, message, schema: wanted, example: Some(example), got: None };
        return (true, need);
    }
    let schema_path = error.schema_path().as_str();
    let above = schema_path.rsplit_once('/').map_or("", |(above, _)| above);
    let wanted = schema.pointer(above).filter(|schema| schema.is_object()).cloned();
    let example = wanted.as_ref().map(example::of);
    let got = Some(error.instance().as_ref().clone());
    (false, Need { pointer: format!("/context{place}"), message, schema: wanted, example, got })
}
