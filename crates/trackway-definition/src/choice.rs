//! A judgement in an example: all choices are named, and none is made.
//!
//! An agent copies examples. One that shows the answer which ends a loop or passes a gate would make the
//! judgement for it, so that an example names the choices instead, in a form that no contract takes.

use serde_json::Value;

const BEFORE: &str = "<";
const AFTER: &str = ">";
const BETWEEN: &str = " | ";

/// Stands where one of these is to be chosen.
pub(crate) fn choice<T: AsRef<str>>(choices: &[T]) -> Value {
    let choices: Vec<&str> = choices.iter().map(AsRef::as_ref).collect();
    Value::String(format!("{BEFORE}{}{AFTER}", choices.join(BETWEEN)))
}

/// The choices that a text names, where it stands for one of them.
pub(crate) fn choices(value: &Value) -> Option<Vec<&str>> {
    let inner = value.as_str()?.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    Some(inner.split(BETWEEN).collect())
}

/// Whether a choice is left open somewhere in a value.
pub(crate) fn is_open(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_open),
        Value::Object(entries) => entries.values().any(is_open),
        value => choices(value).is_some(),
    }
}
