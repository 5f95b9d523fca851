//! Errors of the validator as our validation errors: what is wrong, where, and what would be right.

use std::fmt::{self, Write as _};

use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};
use trackway_domain::{VALIDATION_ERRORS_MAX, ValidationError, shorten_value};

use super::SchemaError;

/// Longest text of an error before it is finally shortened. The library repeats whole values in its texts.
/// Limit (Runtime): text of a validation error before it is shortened.
const MESSAGE_BYTES_MAX: usize = 1_024;

pub(super) fn unusable_schema_validation_error(error: &SchemaError) -> ValidationError {
    ValidationError {
        path: String::new(),
        code: "schema".into(),
        message: error.to_string(),
        expected: Value::Null,
        got: None,
        hint: Some("no value can satisfy it; fix the workflow".into()),
    }
}

/// For a value that is too large, or nested too deeply with too many branches, to look for each error.
pub(super) fn undetailed_schema_error(schema: &Value) -> ValidationError {
    ValidationError {
        path: String::new(),
        code: "schema".into(),
        message: "the value does not satisfy the schema".into(),
        expected: schema.get("type").cloned().unwrap_or(Value::Null),
        got: None,
        hint: Some("it is too large to list what is wrong; send less of it to find out".into()),
    }
}

/// One violation as validation errors: one for each missing or unknown property, because each is fixed
/// separately.
pub(super) fn validation_errors_from_violation(
    schema: &Value,
    value: &Value,
    error: &jsonschema::ValidationError<'_>,
) -> Vec<ValidationError> {
    let path = error.instance_path().to_string();
    let unknown = |name: &str, got: Option<&Value>| ValidationError {
        path: format!("{path}/{}", escape_pointer_token(name)),
        code: "additionalProperties".into(),
        message: format!("{name:?} is not known here"),
        expected: json!("absent"),
        got: got.map(shorten_value),
        hint: Some(format!("remove {name:?}")),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let place = format!("{path}/{}", escape_pointer_token(name));
            vec![ValidationError {
                code: "required".into(),
                message: format!("{name:?} is required"),
                expected: missing_property_schema(schema, error, name).unwrap_or_else(|| json!("present")),
                got: None,
                hint: Some(format!("add {name:?}")),
                path: place,
            }]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let unexpected = unexpected.iter().take(VALIDATION_ERRORS_MAX);
            unexpected.map(|name| unknown(name, error.instance().get(name))).collect()
        }
        // If a schema allows no property at all, the library reports the object and names no property.
        ValidationErrorKind::FalseSchema if !forbidden_properties(value, error).is_empty() => {
            forbidden_properties(value, error).iter().map(|(name, got)| unknown(name, Some(got))).collect()
        }
        kind => vec![ValidationError {
            code: kind.keyword().to_owned(),
            message: violation_message(error),
            expected: violated_schema_rule(schema, error, kind.keyword()),
            got: Some(shorten_value(error.instance())),
            hint: any_of_branches_hint(kind),
            path,
        }],
    }
}

/// The library's message. It repeats the value, so it is used only for a short value.
fn violation_message(error: &jsonschema::ValidationError<'_>) -> String {
    let mut text = BoundedMessageText(String::new());
    // It fails when there is no more room, as intended.
    let _ = if shorten_value(error.instance()) == **error.instance() {
        write!(text, "{error}")
    } else {
        write!(text, "{}", error.masked_with("the value"))
    };
    text.0
}

/// A text of at most [`MESSAGE_BYTES_MAX`]; the rest is never made.
struct BoundedMessageText(String);

impl fmt::Write for BoundedMessageText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MESSAGE_BYTES_MAX.saturating_sub(self.0.len());
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
        if text.len() <= room { Ok(()) } else { Err(fmt::Error) }
    }
}

/// The properties of an object that may have none.
fn forbidden_properties<'v>(
    value: &'v Value,
    error: &jsonschema::ValidationError<'_>,
) -> Vec<(&'v String, &'v Value)> {
    if !error.schema_path().as_str().ends_with("/additionalProperties") {
        return Vec::new();
    }
    let object = value.pointer(error.instance_path().as_str()).and_then(Value::as_object);
    object.into_iter().flatten().take(VALIDATION_ERRORS_MAX).collect()
}

/// The rule itself, as the schema states it. A type or a list of choices is clear by itself. Any other rule
/// needs its name, or `0` would look like the right value.
fn violated_schema_rule(schema: &Value, error: &jsonschema::ValidationError<'_>, rule: &str) -> Value {
    let stated = schema.pointer(error.schema_path().as_str()).map_or(Value::Null, shorten_value);
    match rule {
        "type" | "enum" | "const" => stated,
        rule => json!({ rule: stated }),
    }
}

/// What the schema says about a missing property.
fn missing_property_schema(
    schema: &Value,
    error: &jsonschema::ValidationError<'_>,
    name: &str,
) -> Option<Value> {
    let (object, _) = error.schema_path().as_str().rsplit_once("/required")?;
    schema.pointer(object)?.get("properties")?.get(name).map(shorten_value)
}

/// For a choice that no branch fits: what each branch missed.
fn any_of_branches_hint(kind: &ValidationErrorKind) -> Option<String> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) = kind
    else {
        return None;
    };
    let forms = context.iter().enumerate().take(VALIDATION_ERRORS_MAX).filter_map(|(index, errors)| {
        errors.first().map(|error| format!("form {}: {}", index + 1, violation_message(error)))
    });
    Some(forms.collect::<Vec<_>>().join("; "))
}

/// A name as a segment of a JSON pointer.
pub(crate) fn escape_pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
