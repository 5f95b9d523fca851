//! What notes have to be like.

mod example;
mod form;

use serde_json::Value;
use trackway_domain::{Block, Need, Object};

use crate::condition::holds;
use crate::lack::Lack;
use crate::model::{Criteria, TextTest};
use crate::pattern::{Case, Pattern};
use crate::schema;

/// The place of the notes in a call's arguments.
const NOTES: &str = "/notesMarkdown";

/// Whether notes are as they have to be. No notes are judged like empty ones.
pub(crate) fn check(
    criteria: &Criteria,
    notes: Option<&str>,
    context: &Object,
) -> Result<(), Block> {
    let text = notes.unwrap_or_default();
    let mut reasons = Vec::new();
    if judge(criteria, text, context, &mut reasons)? {
        return Ok(());
    }
    let message = reasons.join("; ");
    let need = Need {
        pointer: NOTES.to_owned(),
        message: message.clone(),
        schema: Some(form::schema(criteria, context)),
        example: example::example(criteria, text, context).map(Value::from),
        got: notes.map(|notes| schema::cut(&Value::from(notes))),
    };
    Err(Block { code: "notes-invalid".to_owned(), message, needs: vec![need] })
}

/// Why a pattern of the criteria cannot be used, for whoever reads a definition.
pub(crate) fn text_pattern_fault(pattern: &str) -> Option<String> {
    Pattern::new(pattern, Case::Matters).err()
}

fn judge(
    criteria: &Criteria,
    text: &str,
    context: &Object,
    reasons: &mut Vec<String>,
) -> Result<bool, Lack> {
    match criteria {
        Criteria::All(all) => {
            let mut fits = true;
            for one in all {
                fits &= judge(one, text, context, reasons)?;
            }
            Ok(fits)
        }
        Criteria::Any(any) => {
            let mut said = Vec::new();
            for one in any {
                if judge(one, text, context, &mut said)? {
                    return Ok(true);
                }
            }
            if !any.is_empty() {
                reasons.push(said.join(", or: "));
            }
            Ok(any.is_empty())
        }
        Criteria::Not(inner) => {
            let fits = !judge(inner, text, context, &mut Vec::new())?;
            if !fits {
                reasons.push(format!("The notes are not to be like this: {}", opposite(inner)));
            }
            Ok(fits)
        }
        Criteria::Rule { when, test, message } => {
            if let Some(when) = when
                && !holds(when, context)?
            {
                return Ok(true);
            }
            let fits = passes(test, text);
            if !fits {
                reasons.push(told(test, message));
            }
            Ok(fits)
        }
    }
}

fn passes(test: &TextTest, text: &str) -> bool {
    match test {
        TextTest::Contains(part) => text.contains(part.as_str()),
        // Whoever reads definitions refuses a pattern that cannot be used; nothing matches it.
        TextTest::Matches(pattern) => {
            Pattern::new(pattern, Case::Matters).is_ok_and(|pattern| pattern.is_match(text))
        }
        TextTest::Length { min, max } => {
            let length = text.chars().count() as u64;
            min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max)
        }
        TextTest::Schema(schema) => serde_json::from_str::<Value>(text)
            .is_ok_and(|value| schema::needs(schema, &value, "", None).is_empty()),
    }
}

/// What is wrong in the words of the file, and what the rule is where they do not say it.
fn told(test: &TextTest, message: &str) -> String {
    let is_said = match test {
        TextTest::Contains(part) => message.contains(part.as_str()),
        TextTest::Matches(pattern) => message.contains(pattern.as_str()),
        TextTest::Length { min, max } => {
            [min, max].into_iter().flatten().all(|bound| message.contains(&bound.to_string()))
        }
        TextTest::Schema(_) => false,
    };
    match (message.trim_end_matches('.'), is_said) {
        ("", _) => said(test),
        (_, true) => message.to_owned(),
        (message, false) => format!("{message} ({})", said(test)),
    }
}

fn said(test: &TextTest) -> String {
    match test {
        TextTest::Contains(part) => format!("The notes have to contain \"{part}\""),
        TextTest::Matches(pattern) => format!("The notes have to match `{pattern}`"),
        TextTest::Length { min: Some(min), max: Some(max) } => {
            format!("The notes have to have {min} to {max} characters")
        }
        TextTest::Length { min: Some(min), .. } => {
            format!("The notes have to have at least {min} characters")
        }
        TextTest::Length { max: Some(max), .. } => {
            format!("The notes have to have at most {max} characters")
        }
        TextTest::Length { .. } => "The notes may have any length".to_owned(),
        TextTest::Schema(schema) => format!("The notes have to be JSON that fits {schema}"),
    }
}

fn opposite(criteria: &Criteria) -> String {
    match criteria {
        Criteria::All(all) | Criteria::Any(all) => {
            all.iter().map(opposite).collect::<Vec<_>>().join(", ")
        }
        Criteria::Not(inner) => opposite(inner),
        Criteria::Rule { test, .. } => said(test),
    }
}

#[cfg(test)]
mod tests;
