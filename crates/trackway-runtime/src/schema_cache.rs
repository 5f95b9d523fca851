//! JSON Schema checks: compiled once, bounded, and rendered so that a sender can fix what is wrong.

mod schema_error_rendering;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use trackway_definition::schema_cost;
use trackway_domain::{Question, ValidationError, WorkflowRef, limit_validation_errors};
use trackway_engine::SchemaChecker;

use crate::answer_types::AnswerTypeRegistry;

pub(crate) use schema_error_rendering::escape_pointer_token;

/// Largest schema that is compiled. Questions and inputs are forms, not data models.
///
/// Limit (Definitions): bytes of a JSON Schema.
const SCHEMA_BYTES_MAX: usize = 256 * 1024;

/// Compiled schemas kept at once. A server has a few per workflow; the bound only guards against
/// schemas made up at run time.
///
/// Limit (Runtime): compiled JSON Schemas in memory.
const COMPILED_MAX: usize = 1_024;

/// A schema that cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SchemaError {
    #[error("the schema has {bytes} bytes, more than {SCHEMA_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("the schema refers to itself in more ways than can be checked")]
    TooManyPaths,
    #[error("the schema is not valid: {reason}")]
    Invalid { reason: String },
}

/// Compiled schemas by their text, and the Rust types that answers are read into.
#[derive(Debug, Default)]
pub struct SchemaCache {
    /// Held only to look up or insert; compiling and checking happen outside.
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
    pub(crate) answer_types: AnswerTypeRegistry,
}

impl SchemaCache {
    /// Compiles a schema before its first use, or returns why it cannot be used.
    pub fn compile_schema(&self, schema: &Value) -> Result<(), SchemaError> {
        self.cached_validator(schema).map(drop)
    }

    /// Checks whether a schema is within the limits. It is compiled at its first use: compiling a schema that
    /// no request needs would cost memory and time at every start.
    pub fn check_schema_bounds(schema: &Value) -> Result<(), SchemaError> {
        check_schema_size(&schema.to_string())?;
        check_schema_compilable(schema)
    }

    fn cached_validator(&self, schema: &Value) -> Result<Arc<Validator>, SchemaError> {
        let text = schema.to_string();
        check_schema_size(&text)?;
        if let Some(known) = self.lock_validators().get(&text) {
            return Ok(known.clone());
        }
        check_schema_compilable(schema)?;
        let compiled = jsonschema::options()
            // A pattern from outside must not be able to take exponential time.
            .with_pattern_options(PatternOptions::regex())
            // A known format is part of the requirement; an unknown one is ignored.
            .should_validate_formats(true)
            .build(schema)
            .map_err(|error| SchemaError::Invalid { reason: error.to_string() })?;
        let compiled = Arc::new(compiled);
        let mut known = self.lock_validators();
        if known.len() >= COMPILED_MAX {
            known.clear();
        }
        known.insert(text, compiled.clone());
        Ok(compiled)
    }

    fn lock_validators(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Validator>>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_schema_size(text: &str) -> Result<(), SchemaError> {
    match text.len() {
        bytes if bytes > SCHEMA_BYTES_MAX => Err(SchemaError::TooLarge { bytes }),
        _ => Ok(()),
    }
}

fn check_schema_compilable(schema: &Value) -> Result<(), SchemaError> {
    if schema_cost::has_bounded_expansion(schema) { Ok(()) } else { Err(SchemaError::TooManyPaths) }
}

impl SchemaChecker for SchemaCache {
    fn check_against_schema(&self, schema: &Value, value: &Value) -> Vec<ValidationError> {
        let validator = match self.cached_validator(schema) {
            Ok(validator) => validator,
            Err(error) => return vec![schema_error_rendering::unusable_schema_validation_error(&error)],
        };
        if validator.is_valid(value) {
            return Vec::new();
        }
        // The library collects every error before it returns the first one, and all branches of every choice.
        if schema_cost::can_list_all_errors(schema, value) {
            let errors = validator.iter_errors(value);
            return limit_validation_errors(errors.flat_map(|error| {
                schema_error_rendering::validation_errors_from_violation(schema, value, &error)
            }));
        }
        let first =
            if schema_cost::has_schema_alternatives(schema) { None } else { validator.validate(value).err() };
        limit_validation_errors(match first {
            Some(error) => schema_error_rendering::validation_errors_from_violation(schema, value, &error),
            None => vec![schema_error_rendering::undetailed_schema_error(schema)],
        })
    }

    fn check_question_answer(
        &self,
        workflow: &WorkflowRef,
        question: &Question,
        answer: &Value,
    ) -> Vec<ValidationError> {
        let problems = self.check_against_schema(&question.schema, answer);
        let answer_type = question.answer_type.as_deref().filter(|_| problems.is_empty());
        let answer_type = answer_type.and_then(|name| self.answer_types.get_answer_type(workflow, name));
        match answer_type {
            Some(answer_type) => answer_type.check_value(answer),
            None => problems,
        }
    }
}

#[cfg(test)]
mod tests;
