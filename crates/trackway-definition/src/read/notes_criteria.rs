//! The criteria for the notes of a step.

use serde_json::Value;

use super::file_value::{FileValue, ObjectFields};
use crate::model::{Condition, NotesCriteria, TextTest};
use crate::notes_criteria::text_pattern_error;

/// Longer than any notes; the limit on notes is lower anyway.
/// Limit (Definitions): length that a file may require of notes.
const LONGEST: u32 = 100_000_000;

impl FileValue<'_> {
    /// A rule, a list of which all must hold, or a composition.
    pub(super) fn parse_criteria(&self) -> Option<NotesCriteria> {
        match self.value {
            Value::Array(_) => Some(NotesCriteria::All(self.parse_all_criteria())),
            // A plain text has to be contained.
            Value::String(text) => Some(NotesCriteria::Rule {
                when: None,
                test: TextTest::Contains(text.clone()),
                message: format!("the notes have to contain `{text}`"),
            }),
            _ => {
                let fields = self.expect_object()?;
                let criteria = if ["and", "or", "not"].iter().any(|key| fields.has(key)) {
                    parse_composition(&fields)
                } else {
                    parse_text_rule(&fields)
                };
                fields.report_unknown_keys();
                criteria
            }
        }
    }

    fn parse_all_criteria(&self) -> Vec<NotesCriteria> {
        self.expect_list().iter().filter_map(FileValue::parse_criteria).collect()
    }
}

fn parse_composition(fields: &ObjectFields<'_>) -> Option<NotesCriteria> {
    let mut parts = Vec::new();
    parts.extend(fields.get("and").map(|at| NotesCriteria::All(at.parse_all_criteria())));
    parts.extend(fields.get("or").map(|at| NotesCriteria::Any(at.parse_all_criteria())));
    let not = fields.get("not").and_then(|at| at.parse_criteria());
    parts.extend(not.map(|inner| NotesCriteria::Not(Box::new(inner))));
    if parts.len() > 1 { Some(NotesCriteria::All(parts)) } else { parts.pop() }
}

fn parse_text_rule(fields: &ObjectFields<'_>) -> Option<NotesCriteria> {
    let when = fields.get("condition").and_then(|at| at.parse_condition());
    let when = when.filter(|when| *when != Condition::Always);
    let given = fields.get("message").and_then(|at| at.expect_nonempty_text());
    let kind = fields.require_key("type")?;
    let (value, pattern, flags) = (fields.get("value"), fields.get("pattern"), fields.get("flags"));
    let (min, max, schema) = (fields.get("min"), fields.get("max"), fields.get("schema"));
    let (test, message) = match kind.expect_text()? {
        "contains" => {
            let text = require_field(fields, value, "value")?.expect_text()?;
            (TextTest::Contains(text.to_owned()), format!("the notes have to contain `{text}`"))
        }
        "regex" => {
            let flags = flags.map_or(Some(String::new()), |at| parse_flags(&at))?;
            let at = require_field(fields, pattern, "pattern")?;
            let pattern = format!("{flags}{}", at.expect_text()?);
            if !at.check_pattern(&pattern, text_pattern_error) {
                return None;
            }
            let message = format!("the notes have to match `{pattern}`");
            (TextTest::Matches(pattern), message)
        }
        "length" => {
            let bound =
                |at: Option<FileValue<'_>>| at.and_then(|at| at.expect_integer(0, LONGEST)).map(u64::from);
            let (min, max) = (bound(min), bound(max));
            let message = match (min, max) {
                (Some(min), Some(max)) => format!("the notes have to be {min} to {max} long"),
                (Some(min), None) => format!("the notes have to be at least {min} long"),
                (None, Some(max)) => format!("the notes may be {max} long at most"),
                (None, None) => {
                    fields.value.report("`min` or `max` is missing");
                    return None;
                }
            };
            (TextTest::Length { min, max }, message)
        }
        "schema" => {
            let schema = require_field(fields, schema, "schema")?.expect_schema()?;
            let message = "the notes have to be JSON that fits the schema".to_owned();
            (TextTest::Schema(schema.clone()), message)
        }
        other => {
            kind.report_unsupported(format!("`{other}` is no known kind of validation"));
            return None;
        }
    };
    Some(NotesCriteria::Rule { when, test, message: given.map_or(message, str::to_owned) })
}

fn require_field<'v>(
    fields: &ObjectFields<'v>,
    at: Option<FileValue<'v>>,
    key: &str,
) -> Option<FileValue<'v>> {
    if at.is_none() {
        fields.value.report(format!("`{key}` is missing"));
    }
    at
}

/// Flags as the prefix of a pattern. Flags that do not change whether a pattern matches are left out.
fn parse_flags(at: &FileValue<'_>) -> Option<String> {
    let mut flags = String::new();
    for flag in at.expect_text()?.chars() {
        match flag {
            'i' | 'm' | 's' => flags.push(flag),
            'g' | 'u' | 'd' => {}
            _ => {
                at.report_unsupported(format!("`{flag}` is no known flag of a pattern"));
                return None;
            }
        }
    }
    Some(if flags.is_empty() { flags } else { format!("(?{flags})") })
}
