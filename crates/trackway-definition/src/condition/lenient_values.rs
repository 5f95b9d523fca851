//! How a rule reads values: agents write `"3"`, `"Yes"` and `3` for the same thing, and a rule treats them
//! alike.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether two values count as the same. Null and an unset name count as the same.
pub(super) fn is_loosely_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            left.trim().to_lowercase() == right.trim().to_lowercase()
        }
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            parse_lenient_number(text)
                .is_some_and(|read| compare_exact_or_float(&read, number) == Some(Ordering::Equal))
        }
        (Value::String(text), Value::Bool(truth)) | (Value::Bool(truth), Value::String(text)) => {
            let words = if *truth { ["true", "1", "yes"] } else { ["false", "0", "no"] };
            words.contains(&text.trim().to_lowercase().as_str())
        }
        (Value::Number(left), Value::Number(right)) => {
            compare_exact_or_float(left, right) == Some(Ordering::Equal)
        }
        _ => left == right,
    }
}

/// Compares two numbers; none if one of the values is not a number.
pub(super) fn compare_as_numbers(value: &Value, expected: &Value) -> Option<Ordering> {
    let value = value.as_number()?;
    match expected {
        Value::Number(expected) => compare_exact_or_float(value, expected),
        Value::String(expected) => compare_exact_or_float(value, &parse_lenient_number(expected)?),
        _ => None,
    }
}

/// Set, and not false, zero, null or an empty text. A list is always truthy.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// A value as text, as rules read it. An object has none.
pub(super) fn coerce_to_text(value: &Value) -> String {
    match value {
        Value::Null | Value::Object(_) => String::new(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => match number.as_f64() {
            // 3.0 is written as 3, as in JavaScript.
            Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(coerce_to_text).collect::<Vec<_>>().join(","),
    }
}

fn parse_lenient_number(text: &str) -> Option<Number> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Number::from(0));
    }
    // Words such as `inf` are texts.
    if text.contains(|c: char| c.is_alphabetic() && c != 'e' && c != 'E') {
        return None;
    }
    text.parse::<i64>()
        .map(Number::from)
        .or_else(|_| text.parse::<u64>().map(Number::from))
        .ok()
        .or_else(|| Number::from_f64(text.parse().ok()?))
}

/// Whole numbers exactly, others as floats.
fn compare_exact_or_float(left: &Number, right: &Number) -> Option<Ordering> {
    match (as_integer(left), as_integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn as_integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}
