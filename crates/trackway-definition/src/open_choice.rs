//! A judgement in an example: all choices are named, and none is made.
//!
//! An agent copies examples. One that shows the answer which ends a loop or passes a gate would make the
//! judgement for it, so that an example names the choices instead, in a form that no contract takes.

use serde_json::Value;

const BEFORE: &str = "<";
const AFTER: &str = ">";
const BETWEEN: &str = " | ";

/// Stands where one of these is to be chosen.
pub(crate) fn choice_placeholder<T: AsRef<str>>(choices: &[T]) -> Value {
    let choices: Vec<&str> = choices.iter().map(AsRef::as_ref).collect();
    Value::String(format!("{BEFORE}{}{AFTER}", choices.join(BETWEEN)))
}

/// The choices that a text names, where it stands for one of them.
pub(crate) fn parse_choices(value: &Value) -> Option<Vec<&str>> {
    let inner = value.as_str()?.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    Some(inner.split(BETWEEN).collect())
}

/// Whether a choice is left open somewhere in a value.
pub(crate) fn has_open_choice(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_open_choice),
        Value::Object(entries) => entries.values().any(has_open_choice),
        value => parse_choices(value).is_some(),
    }
}
