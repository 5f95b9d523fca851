//! One error in a value, described so that the sender can fix it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Problems in one answer. A longer list would hide the first ones.
///
/// Limit (Engine): validation errors in one answer.
pub const VALIDATION_ERRORS_MAX: usize = 32;

/// Longest value or text in a problem. The sender only needs to recognise it.
///
/// Limit (Engine): bytes of a value or a text that a validation error repeats.
const TEXT_BYTES_MAX: usize = 512;

/// All problems of one answer together. They are recorded, and sent to every watcher of the run.
///
/// Limit (Engine): bytes of all validation errors in one answer.
const VALIDATION_ERRORS_BYTES_MAX: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidationError {
    /// JSON pointer into the sent value; empty for the whole value.
    pub path: String,
    /// The rule that was broken, in the words of JSON Schema (`required`, `type`, `minimum`, …).
    pub code: String,
    pub message: String,
    /// What would be valid.
    pub expected: Value,
    /// The value that was sent; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_nullable")]
    pub got: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ValidationError {
    /// The problem in words: where it is, and what is wrong.
    pub fn format_validation_error(&self) -> String {
        match self.path.as_str() {
            "" => self.message.clone(),
            path => format!("{path}: {}", self.message),
        }
    }

    fn with_shortened_error_fields(self) -> Self {
        Self {
            path: shorten_text(&self.path),
            code: shorten_text(&self.code),
            message: shorten_text(&self.message),
            expected: shorten_value(&self.expected),
            got: self.got.as_ref().map(shorten_value),
            hint: self.hint.as_deref().map(shorten_text),
        }
    }

    fn approximate_error_bytes(&self) -> usize {
        let values =
            approximate_json_bytes(&self.expected) + self.got.as_ref().map_or(0, approximate_json_bytes);
        let texts = [&self.path, &self.code, &self.message].map(String::len);
        values + texts.iter().sum::<usize>() + self.hint.as_ref().map_or(0, String::len)
    }
}

/// The first problems, each shortened: at most [`VALIDATION_ERRORS_MAX`], within a bound of bytes. Takes no
/// more from the iterator than it keeps.
pub fn limit_validation_errors(problems: impl IntoIterator<Item = ValidationError>) -> Vec<ValidationError> {
    let mut bytes = 0;
    let limited =
        problems.into_iter().map(ValidationError::with_shortened_error_fields).take(VALIDATION_ERRORS_MAX);
    let fitting = limited.take_while(|problem| {
        bytes += problem.approximate_error_bytes();
        bytes <= VALIDATION_ERRORS_BYTES_MAX
    });
    fitting.collect()
}

/// The text; if it is long, its beginning and its size.
pub fn shorten_text(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    format!("{}… ({} bytes)", &text[..end], text.len())
}

/// The value; if it is long, the beginning of its text or a note that replaces it.
pub fn shorten_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shorten_text(text)),
        value if approximate_json_bytes(value) > TEXT_BYTES_MAX => {
            Value::String(format!("(more than {TEXT_BYTES_MAX} bytes)"))
        }
        value => value.clone(),
    }
}

/// About how many bytes the value has as JSON. Stops counting at the bound, so that a large value costs
/// no more than a small one.
fn approximate_json_bytes(value: &Value) -> usize {
    let mut bytes = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        bytes += match value {
            Value::Null | Value::Bool(_) => 4,
            Value::Number(number) => number.to_string().len(),
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                open.extend(items.iter().take(TEXT_BYTES_MAX));
                items.len() + 2
            }
            Value::Object(entries) => {
                let entries = entries.iter().take(TEXT_BYTES_MAX);
                entries.fold(2, |bytes, (key, value)| {
                    open.push(value);
                    bytes + key.len() + 4
                })
            }
        };
        if bytes > TEXT_BYTES_MAX {
            break;
        }
    }
    bytes
}

/// A `null` that was sent stays a `null`; serde alone would read it as absent.
fn deserialize_nullable<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample_error(text: &str, value: Value) -> ValidationError {
        ValidationError {
            path: text.to_owned(),
            code: text.to_owned(),
            message: text.to_owned(),
            expected: value.clone(),
            got: Some(value),
            hint: Some(text.to_owned()),
        }
    }

    /// Proves L14: the description of the problems is bounded for any input.
    #[test]
    fn validation_errors_are_limited_in_number_and_size() {
        let large = [json!("é".repeat(500_000)), json!(vec![1; 100_000]), json!({"k": "v".repeat(9_000)})];
        for value in large {
            let endless = std::iter::repeat_with(|| sample_error(&"x".repeat(100_000), value.clone()));
            let kept = limit_validation_errors(endless.take(1_000));
            assert!(!kept.is_empty() && kept.len() <= VALIDATION_ERRORS_MAX);
            let bytes = json!(kept).to_string().len();
            assert!(bytes <= VALIDATION_ERRORS_BYTES_MAX + 8 * 1024, "{bytes}");
            assert!(kept[0].message.ends_with("… (100000 bytes)"));
        }
        let short = vec![sample_error("a", json!(1)); 100];
        assert_eq!(limit_validation_errors(short.clone()), short[..VALIDATION_ERRORS_MAX]);
    }

    #[test]
    fn long_values_are_shortened() {
        for value in [json!(null), json!("x".repeat(TEXT_BYTES_MAX)), json!({"a": [1, 2.5]})] {
            assert_eq!(shorten_value(&value), value);
        }
        let text = shorten_value(&json!("y".repeat(600)));
        assert_eq!(text, json!(format!("{}… (600 bytes)", "y".repeat(TEXT_BYTES_MAX))));
        assert_eq!(shorten_value(&json!(vec!["z"; 200])), json!("(more than 512 bytes)"));
    }
}
