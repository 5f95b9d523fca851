//! From what does not fit to what would fit.
//!
//! An example in a need is checked before it is offered: at its pointer, it leaves nothing wrong there. If no
//! value for that pointer alone fixes the fault, the need is for its parent.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};
use trackway_domain::InputRequirement;

use super::schema_pointer::{follow_schema_references, put_value_at_pointer, schema_at_pointer};
use super::{example_for_subschema, schema_pointer::unescape_pointer_token};
use crate::context_error::child_pointer;

/// Naming more at once does not help; the next attempt names the rest.
/// Limit (Definitions): needs that one refused output names.
const NEEDS_MAX: usize = 16;

/// The sent value is shown so that it can be recognised, not copied.
/// Limit (Definitions): sent value that a need repeats.
const GOT_BYTES_MAX: usize = 2048;

/// A larger value is not shown again only to remove its unknown fields.
/// Limit (Definitions): value that is shown again without its unknown fields.
const KEPT_BYTES_MAX: usize = 8 * 1024;

pub(super) fn needs_of_invalid_value(
    validator: &Validator,
    schema: &Value,
    value: &Value,
    pointer: &str,
    example: Option<&Value>,
) -> Vec<InputRequirement> {
    let mut needs: Vec<InputRequirement> = Vec::new();
    let wrongs = validator
        .iter_errors(value)
        .take(NEEDS_MAX)
        .flat_map(|error| schema_violations_of_error(&error, schema));
    for wrong in wrongs {
        let need = need_with_tried_example(&wrong, validator, schema, value, pointer, example);
        // A value that is replaced as a whole covers what is wrong inside it.
        if needs
            .iter()
            .any(|other| other.example.is_some() && pointer_contains(&other.pointer, &need.pointer))
        {
            continue;
        }
        if need.example.is_some() {
            needs.retain(|other| !pointer_contains(&need.pointer, &other.pointer));
        }
        needs.push(need);
    }
    needs
}

/// For a value that is too large, or nested too deeply with too many branches, to look for each error.
pub(super) fn need_without_details(schema: &Value, at: &str, example: Option<&Value>) -> InputRequirement {
    InputRequirement {
        pointer: at.to_owned(),
        message: "The value does not satisfy the schema; it is too large to list what is wrong".to_owned(),
        schema: Some(schema.clone()),
        example: example.cloned(),
        got: None,
    }
}

fn pointer_contains(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// One fault, with its pointer in the value.
struct SchemaViolation {
    pointer: String,
    message: String,
    schema: Option<Value>,
    /// Tried before any other value.
    first_candidate: Option<Value>,
    /// The value has a field that is not allowed.
    is_unknown_field: bool,
}

fn schema_violations_of_error(error: &ValidationError<'_>, root: &Value) -> Vec<SchemaViolation> {
    let pointer = error.instance_path().to_string();
    let path = error.schema_path().to_string();
    let own = path.rsplit_once('/').and_then(|(parent, _)| root.pointer(parent));
    let schema = own
        .or_else(|| schema_at_pointer(root, &pointer))
        .map(|schema| follow_schema_references(root, schema));
    let name = describe_pointer_name(&pointer);
    match error.kind() {
        Kind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            let inner = child_pointer(&pointer, key);
            let property = schema.and_then(|schema| schema.get("properties")?.get(key));
            let schema = property
                .map(|schema| follow_schema_references(root, schema))
                .or(schema_at_pointer(root, &inner));
            vec![SchemaViolation {
                message: format!("`{key}` is missing"),
                schema: Some(schema.cloned().unwrap_or_else(|| json!({}))),
                first_candidate: None,
                is_unknown_field: false,
                pointer: inner,
            }]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            // No replacement value would help, so the need is for its parent.
            let keys: Vec<String> = unexpected.iter().map(|key| format!("`{key}`")).collect();
            vec![SchemaViolation {
                message: format!("{} is not known here; leave it out", keys.join(", ")),
                schema: schema.cloned(),
                first_candidate: None,
                is_unknown_field: true,
                pointer,
            }]
        }
        kind => vec![SchemaViolation {
            message: describe_violation(kind, &name, error),
            schema: schema.cloned(),
            first_candidate: match kind {
                Kind::Enum { options } => options.get(0).cloned(),
                Kind::Constant { expected_value } => Some((**expected_value).clone()),
                _ => None,
            },
            is_unknown_field: false,
            pointer,
        }],
    }
}

fn describe_violation(kind: &Kind, name: &str, error: &ValidationError<'_>) -> String {
    match kind {
        Kind::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().map(Value::to_string).collect();
            format!("{name} has to be one of {}", options.join(", "))
        }
        Kind::Constant { expected_value } => format!("{name} has to be {expected_value}"),
        Kind::Type { .. } => format!("{name} has the wrong type: {error}"),
        Kind::MinLength { limit } => format!("{name} has to have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("{name} has to have at most {limit} characters"),
        Kind::MinItems { limit } => format!("{name} has to have at least {limit} items"),
        Kind::MaxItems { limit } => format!("{name} has to have at most {limit} items"),
        Kind::Minimum { limit } => format!("{name} has to be at least {limit}"),
        Kind::Maximum { limit } => format!("{name} has to be at most {limit}"),
        Kind::Pattern { pattern } => format!("{name} has to match `{pattern}`"),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            format!("{name} fits none of the forms that it may have")
        }
        _ => format!("{name} does not fit: {}", error.masked_with("the value")),
    }
}

fn describe_pointer_name(pointer: &str) -> String {
    match pointer.rsplit_once('/') {
        Some((_, last)) => format!("`{}`", unescape_pointer_token(last)),
        None => "The value".to_owned(),
    }
}

/// The need with a checked example; for a parent if a value at this pointer alone cannot fix it.
fn need_with_tried_example(
    violation: &SchemaViolation,
    validator: &Validator,
    schema: &Value,
    value: &Value,
    at: &str,
    example: Option<&Value>,
) -> InputRequirement {
    let mut need = InputRequirement {
        pointer: format!("{at}{}", violation.pointer),
        message: violation.message.clone(),
        schema: violation.schema.clone(),
        example: None,
        got: value.pointer(&violation.pointer).map(truncate_value_for_display),
    };
    if violation.is_unknown_field
        && let Some(kept) = value_without_unknown_fields(violation, validator, schema, value, example)
    {
        need.example = Some(kept);
        return need;
    }
    let mut pointer = violation.pointer.as_str();
    loop {
        let own = violation.schema.as_ref().filter(|_| pointer == violation.pointer);
        let own = own.or_else(|| schema_at_pointer(schema, pointer));
        let candidates = [
            violation.first_candidate.clone().filter(|_| pointer == violation.pointer),
            example.and_then(|example| example.pointer(pointer)).cloned(),
            own.map(|own| example_for_subschema(schema, own)),
        ];
        for candidate in candidates.into_iter().flatten() {
            if is_valid_with_value_at(validator, value, pointer, &candidate) {
                need.pointer = format!("{at}{pointer}");
                if pointer != violation.pointer {
                    need.schema = Some(own.cloned().unwrap_or_else(|| json!({})));
                    need.got = value.pointer(pointer).map(truncate_value_for_display);
                }
                need.example = Some(candidate);
                return need;
            }
        }
        match pointer.rsplit_once('/') {
            Some((outer, _)) => pointer = outer,
            None => return need,
        }
    }
}

/// The value at a pointer without its unknown fields, and with what else it needs; none if it is too large to
/// show.
fn value_without_unknown_fields(
    violation: &SchemaViolation,
    validator: &Validator,
    schema: &Value,
    value: &Value,
    example: Option<&Value>,
) -> Option<Value> {
    let mut clean = value.clone();
    for _ in 0..NEEDS_MAX {
        let errors: Vec<(String, Vec<String>)> = validator
            .iter_errors(&clean)
            .filter_map(|error| {
                Some((error.instance_path().to_string(), unexpected_fields_of_error(&error)?.to_vec()))
            })
            .collect();
        if errors.is_empty() {
            break;
        }
        for (pointer, keys) in errors {
            let place = clean.pointer_mut(&pointer).and_then(Value::as_object_mut)?;
            place.retain(|key, _| !keys.contains(key));
        }
    }
    if !is_valid_with_value_at(validator, value, &violation.pointer, clean.pointer(&violation.pointer)?) {
        for need in needs_of_invalid_value(validator, schema, &clean.clone(), "", example) {
            put_value_at_pointer(&mut clean, &need.pointer, need.example?);
        }
    }
    let kept = clean.pointer(&violation.pointer)?;
    let fits = is_valid_with_value_at(validator, value, &violation.pointer, kept);
    (fits && kept.to_string().len() <= KEPT_BYTES_MAX).then(|| kept.clone())
}

/// The fields that an error reports as unknown.
fn unexpected_fields_of_error<'e>(error: &'e ValidationError<'_>) -> Option<&'e [String]> {
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            Some(unexpected)
        }
        _ => None,
    }
}

/// Whether nothing is wrong at a pointer after this value is put there.
fn is_valid_with_value_at(validator: &Validator, value: &Value, pointer: &str, candidate: &Value) -> bool {
    let mut whole = value.clone();
    if !put_value_at_pointer(&mut whole, pointer, candidate.clone()) {
        return false;
    }
    let before = validator.iter_errors(value).filter(|error| error_concerns_pointer(error, pointer)).count();
    let mut after = validator.iter_errors(&whole).filter(|error| error_concerns_pointer(error, pointer));
    before > 0 && after.next().is_none()
}

/// Whether an error is about a pointer or something below it.
fn error_concerns_pointer(error: &ValidationError<'_>, pointer: &str) -> bool {
    let error_pointer = error.instance_path().to_string();
    match error.kind() {
        Kind::Required { property } => {
            pointer_contains(pointer, &child_pointer(&error_pointer, property.as_str().unwrap_or_default()))
        }
        _ => pointer_contains(pointer, &error_pointer),
    }
}

/// A value for display: a long text is cut, and another long value is shown as the beginning of its text.
pub(crate) fn truncate_value_for_display(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.len() <= GOT_BYTES_MAX {
        return value.clone();
    }
    let end = text.floor_char_boundary(GOT_BYTES_MAX);
    Value::String(format!("{}… ({} bytes)", &text[..end], text.len()))
}
