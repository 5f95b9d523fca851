//! JSON Schema checks: compiled once, bounded, and rendered so that a sender can mend what is wrong.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use jsonschema::{PatternOptions, Validator, error::ValidationErrorKind};
use serde_json::{Value, json};
use trackway_domain::Problem;
use trackway_engine::Schemas;

/// Largest schema that is compiled. Questions and inputs are forms, not data models.
/// Limit (Runtime): schema of an input or question.
const SCHEMA_BYTES_MAX: usize = 256 * 1024;

/// Compiled schemas kept at once. A server has a few per workflow; the bound only guards against
/// schemas made up at run time.
/// Limit (Runtime): compiled schemas kept in memory.
const COMPILED_MAX: usize = 1_024;

/// Problems told at once; more would only bury the first ones.
/// Limit (Runtime): validation problems of one value.
const PROBLEMS_MAX: usize = 32;

/// Longest value that a problem repeats back to its sender.
/// Limit (Runtime): wrong value that a problem repeats.
const GOT_BYTES_MAX: usize = 512;

/// A schema that cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SchemaError {
    #[error("the schema has {bytes} bytes, more than {SCHEMA_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("the schema is not valid: {reason}")]
    Invalid { reason: String },
}

/// Compiled schemas by their text.
#[derive(Debug, Default)]
pub struct SchemaBook {
    /// Held only to look up or insert; compiling and checking happen outside.
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

impl SchemaBook {
    /// Compiles a schema ahead of its first use, or says why it cannot be used.
    pub fn learn(&self, schema: &Value) -> Result<(), SchemaError> {
        self.validator(schema).map(drop)
    }

    fn validator(&self, schema: &Value) -> Result<Arc<Validator>, SchemaError> {
        let text = schema.to_string();
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(SchemaError::TooLarge { bytes: text.len() });
        }
        if let Some(known) = self.lock().get(&text) {
            return Ok(known.clone());
        }
        let compiled = jsonschema::options()
            // A pattern from outside must not be able to take exponential time.
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map_err(|error| SchemaError::Invalid { reason: error.to_string() })?;
        let compiled = Arc::new(compiled);
        let mut known = self.lock();
        if known.len() >= COMPILED_MAX {
            known.clear();
        }
        known.insert(text, compiled.clone());
        Ok(compiled)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Validator>>> {
        self.compiled.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Schemas for SchemaBook {
    fn check(&self, schema: &Value, value: &Value) -> Vec<Problem> {
        let validator = match self.validator(schema) {
            Ok(validator) => validator,
            Err(error) => return vec![unusable(&error)],
        };
        if validator.is_valid(value) {
            return Vec::new();
        }
        validator
            .iter_errors(value)
            .take(PROBLEMS_MAX)
            .flat_map(|error| problems(schema, value, &error))
            .collect()
    }
}

fn unusable(error: &SchemaError) -> Problem {
    Problem {
        path: String::new(),
        code: "schema".into(),
        message: error.to_string(),
        expected: Value::Null,
        got: None,
        hint: Some("nothing sent can satisfy it; the workflow must be mended".into()),
    }
}

/// One validation error as problems: one for each missing or unknown property, since each is mended
/// by itself.
fn problems(
    schema: &Value,
    value: &Value,
    error: &jsonschema::ValidationError<'_>,
) -> Vec<Problem> {
    let path = error.instance_path().to_string();
    let unknown = |name: &str, got: Option<&Value>| Problem {
        path: format!("{path}/{}", escape(name)),
        code: "additionalProperties".into(),
        message: format!("{name:?} is not known here"),
        expected: json!("absent"),
        got: got.map(bounded),
        hint: Some(format!("remove {name:?}")),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let place = format!("{path}/{}", escape(name));
            vec![Problem {
                code: "required".into(),
                message: format!("{name:?} is required"),
                expected: property_schema(schema, error, name).unwrap_or_else(|| json!("present")),
                got: None,
                hint: Some(format!("add {name:?}")),
                path: place,
            }]
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            unexpected.iter().map(|name| unknown(name, error.instance().get(name))).collect()
        }
        // Where a schema knows no property at all, the library tells of the object and names none.
        ValidationErrorKind::FalseSchema if !strangers(value, error).is_empty() => {
            strangers(value, error).iter().map(|(name, got)| unknown(name, Some(got))).collect()
        }
        kind => vec![Problem {
            code: kind.keyword().to_owned(),
            message: error.to_string(),
            expected: expected(schema, error, kind.keyword()),
            got: Some(bounded(error.instance())),
            hint: branches(kind),
            path,
        }],
    }
}

/// The properties of an object that may have none.
fn strangers<'v>(
    value: &'v Value,
    error: &jsonschema::ValidationError<'_>,
) -> Vec<(&'v String, &'v Value)> {
    if !error.schema_path().as_str().ends_with("/additionalProperties") {
        return Vec::new();
    }
    let object = value.pointer(error.instance_path().as_str()).and_then(Value::as_object);
    object.into_iter().flatten().take(PROBLEMS_MAX).collect()
}

/// The rule itself, as the schema states it. A type or a list of choices speaks for itself; any other
/// rule needs its name, or `0` would be taken for the right value.
fn expected(schema: &Value, error: &jsonschema::ValidationError<'_>, rule: &str) -> Value {
    let stated = schema.pointer(error.schema_path().as_str()).map_or(Value::Null, bounded);
    match rule {
        "type" | "enum" | "const" => stated,
        rule => json!({ rule: stated }),
    }
}

/// What the schema says of a property that is missing.
fn property_schema(
    schema: &Value,
    error: &jsonschema::ValidationError<'_>,
    name: &str,
) -> Option<Value> {
    let (object, _) = error.schema_path().as_str().rsplit_once("/required")?;
    schema.pointer(object)?.get("properties")?.get(name).map(bounded)
}

/// For a choice that no form fits: what each form missed.
fn branches(kind: &ValidationErrorKind) -> Option<String> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        kind
    else {
        return None;
    };
    let told = context.iter().enumerate().filter_map(|(index, errors)| {
        errors.first().map(|error| format!("form {}: {error}", index + 1))
    });
    Some(told.collect::<Vec<_>>().join("; "))
}

/// The value, or a note in its place when it is long.
fn bounded(value: &Value) -> Value {
    let bytes = value.to_string().len();
    if bytes <= GOT_BYTES_MAX { value.clone() } else { json!(format!("({bytes} bytes)")) }
}

/// A name as a segment of a JSON pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests;
