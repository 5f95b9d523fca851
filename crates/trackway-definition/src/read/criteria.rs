//! What the notes of a step have to be like.

use serde_json::Value;

use super::cursor::{At, Fields};
use crate::criteria::text_pattern_fault;
use crate::model::{Condition, Criteria, TextTest};

/// Nobody writes notes of this length by hand; the bound on notes is lower anyway.
/// Limit (Definitions): length that a file may ask of notes.
const LONGEST: u32 = 100_000_000;

impl At<'_> {
    /// A rule, a list of which all must hold, or a composition.
    pub(super) fn criteria(&self) -> Option<Criteria> {
        match self.value {
            Value::Array(_) => Some(Criteria::All(self.all())),
            // Written as plain text, it has to be contained.
            Value::String(text) => Some(Criteria::Rule {
                when: None,
                test: TextTest::Contains(text.clone()),
                message: format!("the notes have to contain `{text}`"),
            }),
            _ => {
                let fields = self.object()?;
                let criteria = if ["and", "or", "not"].iter().any(|key| fields.has(key)) {
                    composition(&fields)
                } else {
                    rule(&fields)
                };
                fields.finish();
                criteria
            }
        }
    }

    fn all(&self) -> Vec<Criteria> {
        self.list().iter().filter_map(At::criteria).collect()
    }
}

fn composition(fields: &Fields<'_>) -> Option<Criteria> {
    let mut parts = Vec::new();
    parts.extend(fields.get("and").map(|at| Criteria::All(at.all())));
    parts.extend(fields.get("or").map(|at| Criteria::Any(at.all())));
    let not = fields.get("not").and_then(|at| at.criteria());
    parts.extend(not.map(|inner| Criteria::Not(Box::new(inner))));
    if parts.len() > 1 { Some(Criteria::All(parts)) } else { parts.pop() }
}

fn rule(fields: &Fields<'_>) -> Option<Criteria> {
    let when = fields.get("condition").and_then(|at| at.condition());
    let when = when.filter(|when| *when != Condition::Always);
    let given = fields.get("message").and_then(|at| at.filled());
    let kind = fields.need("type")?;
    let (value, pattern, flags) = (fields.get("value"), fields.get("pattern"), fields.get("flags"));
    let (min, max, schema) = (fields.get("min"), fields.get("max"), fields.get("schema"));
    let (test, message) = match kind.text()? {
        "contains" => {
            let text = present(fields, value, "value")?.text()?;
            (TextTest::Contains(text.to_owned()), format!("the notes have to contain `{text}`"))
        }
        "regex" => {
            let flags = flags.map_or(Some(String::new()), |at| known_flags(&at))?;
            let at = present(fields, pattern, "pattern")?;
            let pattern = format!("{flags}{}", at.text()?);
            if !at.pattern(&pattern, text_pattern_fault) {
                return None;
            }
            let message = format!("the notes have to match `{pattern}`");
            (TextTest::Matches(pattern), message)
        }
        "length" => {
            let bound = |at: Option<At<'_>>| at.and_then(|at| at.whole(0, LONGEST)).map(u64::from);
            let (min, max) = (bound(min), bound(max));
            let message = match (min, max) {
                (Some(min), Some(max)) => format!("the notes have to be {min} to {max} long"),
                (Some(min), None) => format!("the notes have to be at least {min} long"),
                (None, Some(max)) => format!("the notes may be {max} long at most"),
                (None, None) => {
                    fields.at.fault("`min` or `max` is missing");
                    return None;
                }
            };
            (TextTest::Length { min, max }, message)
        }
        "schema" => {
            let schema = present(fields, schema, "schema")?.schema()?;
            let message = "the notes have to be JSON that fits the schema".to_owned();
            (TextTest::Schema(schema.clone()), message)
        }
        other => {
            kind.beyond(format!("`{other}` is no known kind of validation"));
            return None;
        }
    };
    Some(Criteria::Rule { when, test, message: given.map_or(message, str::to_owned) })
}

fn present<'v>(fields: &Fields<'v>, at: Option<At<'v>>, key: &str) -> Option<At<'v>> {
    if at.is_none() {
        fields.at.fault(format!("`{key}` is missing"));
    }
    at
}

/// Flags in the form that a pattern is begun with. Those that do not change whether a pattern is found
/// are left out.
fn known_flags(at: &At<'_>) -> Option<String> {
    let mut flags = String::new();
    for flag in at.text()?.chars() {
        match flag {
            'i' | 'm' | 's' => flags.push(flag),
            'g' | 'u' | 'd' => {}
            _ => {
                at.beyond(format!("`{flag}` is no known flag of a pattern"));
                return None;
            }
        }
    }
    Some(if flags.is_empty() { flags } else { format!("(?{flags})") })
}
