//! A judgement in an example: all choices are named, and none is made.
//!
//! An agent copies examples. An example with the answer that ends a loop or passes a gate would make the
//! judgement for the agent. So an example names the choices instead, in a form that no contract accepts.

use serde_json::Value;

const BEFORE: &str = "<";
const AFTER: &str = ">";
const BETWEEN: &str = " | ";

/// A placeholder for one of these choices.
pub(crate) fn choice_placeholder<T: AsRef<str>>(choices: &[T]) -> Value {
    let choices: Vec<&str> = choices.iter().map(AsRef::as_ref).collect();
    Value::String(format!("{BEFORE}{}{AFTER}", choices.join(BETWEEN)))
}

/// The choices in a placeholder; none if the text is not one.
pub(crate) fn parse_choice_placeholder(value: &Value) -> Option<Vec<&str>> {
    let inner = value.as_str()?.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    Some(inner.split(BETWEEN).collect())
}

/// Whether a choice is left open somewhere in a value.
pub(crate) fn has_open_choice(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_open_choice),
        Value::Object(entries) => entries.values().any(has_open_choice),
        value => parse_choice_placeholder(value).is_some(),
    }
}
