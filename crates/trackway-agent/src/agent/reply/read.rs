//! The possible meanings of a message as an answer to a question. Pure; the schema decides whether one
//! is valid.

use serde_json::Value;
use trackway_domain::{Part, Reason};
use trackway_engine::input_from_parts;

use crate::form::{Line, written_field, written_fields, written_value};

/// The possible meaning of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reading {
    /// It is clearly an answer: data, `name=value`, JSON, a yes, a number, one of the choices.
    Given(Value),
    /// Free text for a question that accepts any text.
    Said(Value),
}

impl Reading {
    fn value(&self) -> &Value {
        match self {
            Self::Given(value) | Self::Said(value) => value,
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Given(value) | Self::Said(value) => value,
        }
    }

    /// Whether the message is an answer to a question that it does not name. Free text may be for the
    /// agent instead: a question, a command or an address such as `@name` is. A signature is never
    /// inferred from free text.
    pub(super) fn belongs(&self, reason: Reason, parts: &[Part]) -> bool {
        let text = text(parts).unwrap_or_default();
        match self {
            Self::Given(_) => !is_command(&text),
            Self::Said(_) => {
                let elsewhere = is_command(&text) || is_question(&text) || is_addressed(&text);
                reason == Reason::InputRequired && !elsewhere
            }
        }
    }
}

/// The possible meanings of the message, the most certain first.
pub(super) fn readings(schema: &Value, parts: &[Part]) -> Vec<Reading> {
    let plain = input_from_parts(schema, parts).ok();
    let text = match text(parts) {
        Some(text) if !parts.iter().any(|part| part.as_data().is_some()) => text,
        _ => return plain.map(Reading::Given).into_iter().collect(),
    };
    let given = written_fields(schema, &text).or_else(|| json(&text)).map(Reading::Given);
    let lines = [written_field(schema, &text), written_value(schema, &text)];
    let lines = lines.into_iter().flatten().map(|Line { value, is_free }| {
        if is_free { Reading::Said(value) } else { Reading::Given(value) }
    });
    let mut readings: Vec<Reading> = given.into_iter().chain(lines).collect();
    let known = |value: &Value| readings.iter().any(|reading| reading.value() == value);
    let plain = plain.filter(|value| !known(value)).map(Reading::Said);
    readings.extend(plain);
    readings
}

/// The message unchanged, if it is for a question whose schema it does not match.
pub(super) fn plain(parts: &[Part]) -> Option<Value> {
    parts.iter().find_map(Part::as_data).cloned().or_else(|| text(parts).map(Value::String))
}

fn text(parts: &[Part]) -> Option<String> {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    (!texts.is_empty()).then(|| texts.join("\n").trim().to_owned())
}

/// An object or a list. Any other JSON value could also be a word.
fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(|value: &Value| value.is_object() || value.is_array())
}

/// `/run echo` is a command; a path such as `/srv/data` is not.
fn is_command(text: &str) -> bool {
    let word = text.strip_prefix('/').and_then(|line| line.split_whitespace().next());
    word.is_some_and(|word| word.chars().all(char::is_alphabetic))
}

fn is_question(text: &str) -> bool {
    text.ends_with(['?', '？'])
}

/// `@helper what was that` is an address; a name alone is not.
fn is_addressed(text: &str) -> bool {
    text.starts_with('@') && text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests;
