//! The criteria as a schema of the notes.

use serde_json::{Value, json};
use trackway_domain::Object;

use crate::condition::condition_holds;
use crate::model::{NotesCriteria, NotesTextTest};

/// The criteria, as far as a schema can express them: it has no form for a pattern with flags.
pub(super) fn notes_schema(criteria: &NotesCriteria, context: &Object) -> Value {
    let mut schema = json!({ "type": "string" });
    if let (Some(schema), Value::Object(rules)) = (schema.as_object_mut(), criteria_schema(criteria, context))
    {
        schema.extend(rules);
    }
    schema
}

fn criteria_schema(criteria: &NotesCriteria, context: &Object) -> Value {
    let each = |all: &[NotesCriteria]| -> Vec<Value> {
        all.iter().map(|one| criteria_schema(one, context)).collect()
    };
    match criteria {
        NotesCriteria::All(all) => {
            let mut all: Vec<Value> = each(all);
            all.retain(|rule| *rule != json!({}));
            match all.len() {
                0 => json!({}),
                1 => all.remove(0),
                _ => json!({ "allOf": all }),
            }
        }
        NotesCriteria::Any(any) if any.is_empty() => json!({}),
        NotesCriteria::Any(any) => json!({ "anyOf": each(any) }),
        NotesCriteria::Not(inner) => match criteria_schema(inner, context) {
            // Nothing is known of it.
            inner if inner == json!({}) => inner,
            inner => json!({ "not": inner }),
        },
        NotesCriteria::Rule { when, test, .. } => {
            let counts = when.as_ref().is_none_or(|when| condition_holds(when, context).unwrap_or(false));
            if counts { text_test_schema(test) } else { json!({}) }
        }
    }
}

fn text_test_schema(test: &NotesTextTest) -> Value {
    match test {
        NotesTextTest::Contains(part) => json!({ "pattern": escape_regex_text(part) }),
        NotesTextTest::Matches(pattern) if pattern.starts_with("(?") => json!({}),
        NotesTextTest::Matches(pattern) => json!({ "pattern": pattern }),
        NotesTextTest::Length { min, max } => {
            let bounds = [("minLength", min), ("maxLength", max)];
            bounds.into_iter().filter_map(|(name, bound)| Some((name, (*bound)?))).collect()
        }
        NotesTextTest::Schema(schema) => {
            json!({ "contentMediaType": "application/json", "contentSchema": schema })
        }
    }
}

/// A pattern of this exact text, with only the escapes that JavaScript allows.
fn escape_regex_text(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if r"^$\.*+?()[]{}|/".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
