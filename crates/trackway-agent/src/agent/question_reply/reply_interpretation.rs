//! The possible meanings of a message as an answer to a question. Pure; the schema decides whether one
//! is valid.

use serde_json::Value;
use trackway_domain::{InterruptReason, Part};
use trackway_engine::input_from_parts;

use crate::schema_form::{ParsedBareValue, parse_assignments, parse_bare_value, parse_only_required_field};

/// The possible meaning of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReplyInterpretation {
    /// It is clearly an answer: data, `name=value`, JSON, a yes, a number, one of the choices.
    Explicit(Value),
    /// Free text for a question that accepts any text.
    FreeText(Value),
}

impl ReplyInterpretation {
    fn answer_value(&self) -> &Value {
        match self {
            Self::Explicit(value) | Self::FreeText(value) => value,
        }
    }

    pub(super) fn into_answer_value(self) -> Value {
        match self {
            Self::Explicit(value) | Self::FreeText(value) => value,
        }
    }

    /// Whether the message is an answer to a question that it does not name. Free text may be for the
    /// agent instead: a question, a command or an address such as `@name` is. A signature is never
    /// inferred from free text.
    pub(super) fn answers_unnamed_question(&self, reason: InterruptReason, parts: &[Part]) -> bool {
        let text = joined_message_text(parts).unwrap_or_default();
        match self {
            Self::Explicit(_) => !is_slash_command(&text),
            Self::FreeText(_) => {
                let elsewhere =
                    is_slash_command(&text) || ends_with_question_mark(&text) || starts_with_mention(&text);
                reason == InterruptReason::InputRequired && !elsewhere
            }
        }
    }
}

/// The possible meanings of the message, the most certain first.
pub(super) fn interpret_user_reply(schema: &Value, parts: &[Part]) -> Vec<ReplyInterpretation> {
    let plain = input_from_parts(schema, parts).ok();
    let text = match joined_message_text(parts) {
        Some(text) if !parts.iter().any(|part| part.as_data().is_some()) => text,
        _ => return plain.map(ReplyInterpretation::Explicit).into_iter().collect(),
    };
    let given = parse_assignments(schema, &text)
        .or_else(|| parse_json_object_or_list(&text))
        .map(ReplyInterpretation::Explicit);
    let lines = [parse_only_required_field(schema, &text), parse_bare_value(schema, &text)];
    let lines = lines.into_iter().flatten().map(|ParsedBareValue { value, is_free }| {
        if is_free { ReplyInterpretation::FreeText(value) } else { ReplyInterpretation::Explicit(value) }
    });
    let mut readings: Vec<ReplyInterpretation> = given.into_iter().chain(lines).collect();
    let known = |value: &Value| readings.iter().any(|reading| reading.answer_value() == value);
    let plain = plain.filter(|value| !known(value)).map(ReplyInterpretation::FreeText);
    readings.extend(plain);
    readings
}

/// The message unchanged, if it is for a question whose schema it does not match.
pub(super) fn message_as_answer_value(parts: &[Part]) -> Option<Value> {
    parts.iter().find_map(Part::as_data).cloned().or_else(|| joined_message_text(parts).map(Value::String))
}

fn joined_message_text(parts: &[Part]) -> Option<String> {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    (!texts.is_empty()).then(|| texts.join("\n").trim().to_owned())
}

/// An object or a list. Any other JSON value could also be a word.
fn parse_json_object_or_list(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(|value: &Value| value.is_object() || value.is_array())
}

/// `/run echo` is a command; a path such as `/srv/data` is not.
fn is_slash_command(text: &str) -> bool {
    let word = text.strip_prefix('/').and_then(|line| line.split_whitespace().next());
    word.is_some_and(|word| word.chars().all(char::is_alphabetic))
}

fn ends_with_question_mark(text: &str) -> bool {
    text.ends_with(['?', '？'])
}

/// `@helper what was that` is an address; a name alone is not.
fn starts_with_mention(text: &str) -> bool {
    text.starts_with('@') && text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests;
