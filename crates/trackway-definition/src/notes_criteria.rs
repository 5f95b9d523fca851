//! The criteria that notes have to satisfy.

mod example_notes;
mod notes_form;

use serde_json::Value;
use trackway_domain::{BlockReason, InputRequirement, Object};

use crate::condition::condition_holds;
use crate::context_error::ContextError;
use crate::model::{NotesCriteria, NotesTextTest};
use crate::regex_pattern::{CaseSensitivity, CompiledPattern};
use crate::schema_validation;

/// The pointer of the notes in a call's arguments.
const NOTES: &str = "/notesMarkdown";

/// Whether notes satisfy the criteria. Absent notes are treated as empty ones.
pub(crate) fn check_notes(
    criteria: &NotesCriteria,
    notes: Option<&str>,
    context: &Object,
) -> Result<(), BlockReason> {
    let text = notes.unwrap_or_default();
    let mut reasons = Vec::new();
    if notes_satisfy(criteria, text, context, &mut reasons)? {
        return Ok(());
    }
    let message = reasons.join("; ");
    let need = InputRequirement {
        pointer: NOTES.to_owned(),
        message: message.clone(),
        schema: Some(notes_form::notes_schema(criteria, context)),
        example: example_notes::build_example_notes(criteria, text, context).map(Value::from),
        got: notes.map(|notes| schema_validation::truncate_value_for_display(&Value::from(notes))),
    };
    Err(BlockReason { code: "notes-invalid".to_owned(), message, needs: vec![need] })
}

/// Why a pattern of the criteria cannot be used, for the reader of definitions.
pub(crate) fn notes_pattern_error(pattern: &str) -> Option<String> {
    CompiledPattern::new(pattern, CaseSensitivity::Sensitive).err()
}

fn notes_satisfy(
    criteria: &NotesCriteria,
    text: &str,
    context: &Object,
    reasons: &mut Vec<String>,
) -> Result<bool, ContextError> {
    match criteria {
        NotesCriteria::All(all) => {
            let mut fits = true;
            for one in all {
                fits &= notes_satisfy(one, text, context, reasons)?;
            }
            Ok(fits)
        }
        NotesCriteria::Any(any) => {
            let mut said = Vec::new();
            for one in any {
                if notes_satisfy(one, text, context, &mut said)? {
                    return Ok(true);
                }
            }
            if !any.is_empty() {
                reasons.push(said.join(", or: "));
            }
            Ok(any.is_empty())
        }
        NotesCriteria::Not(inner) => {
            let fits = !notes_satisfy(inner, text, context, &mut Vec::new())?;
            if !fits {
                reasons
                    .push(format!("The notes are not to be like this: {}", describe_notes_criteria(inner)));
            }
            Ok(fits)
        }
        NotesCriteria::Rule { when, test, message } => {
            if let Some(when) = when
                && !condition_holds(when, context)?
            {
                return Ok(true);
            }
            let fits = text_test_passes(test, text);
            if !fits {
                reasons.push(text_test_failure_message(test, message));
            }
            Ok(fits)
        }
    }
}

fn text_test_passes(test: &NotesTextTest, text: &str) -> bool {
    match test {
        NotesTextTest::Contains(part) => text.contains(part.as_str()),
        // The reader of definitions refuses a pattern that cannot be used; nothing matches it.
        NotesTextTest::Matches(pattern) => CompiledPattern::new(pattern, CaseSensitivity::Sensitive)
            .is_ok_and(|pattern| pattern.is_match(text)),
        NotesTextTest::Length { min, max } => {
            let length = text.chars().count() as u64;
            min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max)
        }
        NotesTextTest::Schema(schema) => serde_json::from_str::<Value>(text)
            .is_ok_and(|value| schema_validation::find_schema_needs(schema, &value, "", None).is_empty()),
    }
}

/// What is wrong, in the words of the file, plus the rule if those words do not name it.
fn text_test_failure_message(test: &NotesTextTest, message: &str) -> String {
    let is_said = match test {
        NotesTextTest::Contains(part) => message.contains(part.as_str()),
        NotesTextTest::Matches(pattern) => message.contains(pattern.as_str()),
        NotesTextTest::Length { min, max } => {
            [min, max].into_iter().flatten().all(|bound| message.contains(&bound.to_string()))
        }
        NotesTextTest::Schema(_) => false,
    };
    match (message.trim_end_matches('.'), is_said) {
        ("", _) => describe_text_test(test),
        (_, true) => message.to_owned(),
        (message, false) => format!("{message} ({})", describe_text_test(test)),
    }
}

fn describe_text_test(test: &NotesTextTest) -> String {
    match test {
        NotesTextTest::Contains(part) => format!("The notes have to contain \"{part}\""),
        NotesTextTest::Matches(pattern) => format!("The notes have to match `{pattern}`"),
        NotesTextTest::Length { min: Some(min), max: Some(max) } => {
            format!("The notes have to have {min} to {max} characters")
        }
        NotesTextTest::Length { min: Some(min), .. } => {
            format!("The notes have to have at least {min} characters")
        }
        NotesTextTest::Length { max: Some(max), .. } => {
            format!("The notes have to have at most {max} characters")
        }
        NotesTextTest::Length { .. } => "The notes may have any length".to_owned(),
        NotesTextTest::Schema(schema) => format!("The notes have to be JSON that fits {schema}"),
    }
}

fn describe_notes_criteria(criteria: &NotesCriteria) -> String {
    match criteria {
        NotesCriteria::All(all) | NotesCriteria::Any(all) => {
            all.iter().map(describe_notes_criteria).collect::<Vec<_>>().join(", ")
        }
        NotesCriteria::Not(inner) => describe_notes_criteria(inner),
        NotesCriteria::Rule { test, .. } => describe_text_test(test),
    }
}

#[cfg(test)]
mod tests;
