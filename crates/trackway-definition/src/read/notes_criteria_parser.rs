//! The criteria for the notes of a step.

use serde_json::Value;

use super::file_value::{FileValue, ObjectFields};
use crate::model::{Condition, NotesCriteria, NotesTextTest};
use crate::notes_criteria::notes_pattern_error;

/// Longer than any notes; the limit on notes is lower anyway.
/// Limit (Definitions): length that a file may require of notes.
const LONGEST: u32 = 100_000_000;

impl FileValue<'_> {
    /// A rule, a list of which all must hold, or a composition.
    pub(super) fn parse_notes_criteria(&self) -> Option<NotesCriteria> {
        match self.value {
            Value::Array(_) => Some(NotesCriteria::All(self.parse_criteria_list())),
            // A plain text has to be contained.
            Value::String(text) => Some(NotesCriteria::Rule {
                when: None,
                test: NotesTextTest::Contains(text.clone()),
                message: format!("the notes have to contain `{text}`"),
            }),
            _ => {
                let fields = self.expect_object()?;
                let criteria = if ["and", "or", "not"].iter().any(|key| fields.has_key(key)) {
                    parse_criteria_composition(&fields)
                } else {
                    parse_notes_text_rule(&fields)
                };
                fields.report_unknown_keys();
                criteria
            }
        }
    }

    fn parse_criteria_list(&self) -> Vec<NotesCriteria> {
        self.expect_list().iter().filter_map(FileValue::parse_notes_criteria).collect()
    }
}

fn parse_criteria_composition(fields: &ObjectFields<'_>) -> Option<NotesCriteria> {
    let mut parts = Vec::new();
    parts.extend(fields.get_and_mark_known("and").map(|at| NotesCriteria::All(at.parse_criteria_list())));
    parts.extend(fields.get_and_mark_known("or").map(|at| NotesCriteria::Any(at.parse_criteria_list())));
    let not = fields.get_and_mark_known("not").and_then(|at| at.parse_notes_criteria());
    parts.extend(not.map(|inner| NotesCriteria::Not(Box::new(inner))));
    if parts.len() > 1 { Some(NotesCriteria::All(parts)) } else { parts.pop() }
}

fn parse_notes_text_rule(fields: &ObjectFields<'_>) -> Option<NotesCriteria> {
    let when = fields.get_and_mark_known("condition").and_then(|at| at.parse_condition());
    let when = when.filter(|when| *when != Condition::Always);
    let given = fields.get_and_mark_known("message").and_then(|at| at.expect_nonempty_text());
    let kind = fields.require_key("type")?;
    let (value, pattern, flags) = (
        fields.get_and_mark_known("value"),
        fields.get_and_mark_known("pattern"),
        fields.get_and_mark_known("flags"),
    );
    let (min, max, schema) = (
        fields.get_and_mark_known("min"),
        fields.get_and_mark_known("max"),
        fields.get_and_mark_known("schema"),
    );
    let (test, message) = match kind.expect_text()? {
        "contains" => {
            let text = require_rule_field(fields, value, "value")?.expect_text()?;
            (NotesTextTest::Contains(text.to_owned()), format!("the notes have to contain `{text}`"))
        }
        "regex" => {
            let flags = flags.map_or(Some(String::new()), |at| parse_regex_flags(&at))?;
            let at = require_rule_field(fields, pattern, "pattern")?;
            let pattern = format!("{flags}{}", at.expect_text()?);
            if !at.check_regex_pattern(&pattern, notes_pattern_error) {
                return None;
            }
            let message = format!("the notes have to match `{pattern}`");
            (NotesTextTest::Matches(pattern), message)
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
                    fields.value.report_finding("`min` or `max` is missing");
                    return None;
                }
            };
            (NotesTextTest::Length { min, max }, message)
        }
        "schema" => {
            let schema = require_rule_field(fields, schema, "schema")?.expect_json_schema()?;
            let message = "the notes have to be JSON that fits the schema".to_owned();
            (NotesTextTest::Schema(schema.clone()), message)
        }
        other => {
            kind.report_unsupported_construct(format!("`{other}` is no known kind of validation"));
            return None;
        }
    };
    Some(NotesCriteria::Rule { when, test, message: given.map_or(message, str::to_owned) })
}

fn require_rule_field<'v>(
    fields: &ObjectFields<'v>,
    file_value: Option<FileValue<'v>>,
    key: &str,
) -> Option<FileValue<'v>> {
    if file_value.is_none() {
        fields.value.report_finding(format!("`{key}` is missing"));
    }
    file_value
}

/// Flags as the prefix of a pattern. Flags that do not change whether a pattern matches are left out.
fn parse_regex_flags(file_value: &FileValue<'_>) -> Option<String> {
    let mut flags = String::new();
    for flag in file_value.expect_text()?.chars() {
        match flag {
            'i' | 'm' | 's' => flags.push(flag),
            'g' | 'u' | 'd' => {}
            _ => {
                file_value.report_unsupported_construct(format!("`{flag}` is no known flag of a pattern"));
                return None;
            }
        }
    }
    Some(if flags.is_empty() { flags } else { format!("(?{flags})") })
}
