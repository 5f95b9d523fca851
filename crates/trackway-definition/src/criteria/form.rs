//! The criteria as a schema of the notes.

use serde_json::{Value, json};
use trackway_domain::Object;

use crate::condition::holds;
use crate::model::{Criteria, TextTest};

/// What notes have to be, as far as a schema can say it: a pattern with flags has no form in one.
pub(super) fn schema(criteria: &Criteria, context: &Object) -> Value {
    let mut schema = json!({ "type": "string" });
    if let (Some(schema), Value::Object(rules)) = (schema.as_object_mut(), rules(criteria, context))
    {
        schema.extend(rules);
    }
    schema
}

fn rules(criteria: &Criteria, context: &Object) -> Value {
    let each =
        |all: &[Criteria]| -> Vec<Value> { all.iter().map(|one| rules(one, context)).collect() };
    match criteria {
        Criteria::All(all) => {
            let mut all: Vec<Value> = each(all);
            all.retain(|rule| *rule != json!({}));
            match all.len() {
                0 => json!({}),
                1 => all.remove(0),
                _ => json!({ "allOf": all }),
            }
        }
        Criteria::Any(any) if any.is_empty() => json!({}),
        Criteria::Any(any) => json!({ "anyOf": each(any) }),
        Criteria::Not(inner) => match rules(inner, context) {
            // Nothing is known of it.
            inner if inner == json!({}) => inner,
            inner => json!({ "not": inner }),
        },
        Criteria::Rule { when, test, .. } => {
            let counts = when.as_ref().is_none_or(|when| holds(when, context).unwrap_or(false));
            if counts { rule(test) } else { json!({}) }
        }
    }
}

fn rule(test: &TextTest) -> Value {
    match test {
        TextTest::Contains(part) => json!({ "pattern": escaped(part) }),
        TextTest::Matches(pattern) if pattern.starts_with("(?") => json!({}),
        TextTest::Matches(pattern) => json!({ "pattern": pattern }),
        TextTest::Length { min, max } => {
            let bounds = [("minLength", min), ("maxLength", max)];
            bounds.into_iter().filter_map(|(name, bound)| Some((name, (*bound)?))).collect()
        }
        TextTest::Schema(schema) => {
            json!({ "contentMediaType": "application/json", "contentSchema": schema })
        }
    }
}

/// A pattern of this very text, with no more escapes than JavaScript allows.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if r"^$\.*+?()[]{}|/".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
