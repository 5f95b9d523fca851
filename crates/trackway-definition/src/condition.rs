//! Whether a condition holds for a context.

mod coerce;

use serde_json::Value;
use trackway_domain::Object;

use crate::expression;
use crate::lack::{Lack, Like, find};
use crate::model::{Condition, Rule, Test};
use crate::pattern::{Case, Pattern};
use coerce::{compare, equal, is_truthy, text};

/// Whether a condition holds. A CEL expression lacks the names that it reads and that are not set; a
/// rule lacks nothing, since for a rule a name that is not set is just a value like null.
pub(crate) fn holds(condition: &Condition, context: &Object) -> Result<bool, Lack> {
    match condition {
        Condition::Always => Ok(true),
        Condition::Cel(source) => {
            match expression::evaluate_for(source, context, &Value::is_boolean)? {
                Value::Bool(holds) => Ok(holds),
                other => Err(not_a_truth(source, &other, context)),
            }
        }
        Condition::Rule(rule) => follows(rule, context),
    }
}

/// The names for want of which a rule cannot be decided: with them it might hold. Empty where it is
/// decided by the names that are set, and for expressions, which ask for what is not set. `exists` is a
/// question about the name itself and is always decided.
pub(crate) fn unset_names(condition: &Condition, context: &Object) -> Vec<String> {
    let mut names = Vec::new();
    if let Condition::Rule(rule) = condition {
        decided(rule, context, &mut names);
    }
    names.dedup();
    names
}

/// Whether a rule holds as far as the names that are set decide it; none where they do not. Then the
/// names that it waits for are added.
fn decided(rule: &Rule, context: &Object, names: &mut Vec<String>) -> Option<bool> {
    let before = names.len();
    let outcome = match rule {
        Rule::Test { name, test, .. } if *test != Test::Exists && find(context, name).is_none() => {
            names.push(name.clone());
            None
        }
        Rule::Truthy { name } if find(context, name).is_none() => {
            names.push(name.clone());
            None
        }
        Rule::Test { .. } | Rule::Truthy { .. } => follows(rule, context).ok(),
        Rule::And(rules) => all(rules, false, context, names),
        Rule::Or(rules) => all(rules, true, context, names),
        Rule::Not(rule) => decided(rule, context, names).map(|holds| !holds),
    };
    if outcome.is_some() {
        names.truncate(before);
    }
    outcome
}

/// Several rules, of which one with the outcome `decisive` decides for all.
fn all(rules: &[Rule], decisive: bool, context: &Object, names: &mut Vec<String>) -> Option<bool> {
    let each: Vec<Option<bool>> = rules.iter().map(|rule| decided(rule, context, names)).collect();
    if each.contains(&Some(decisive)) {
        return Some(decisive);
    }
    (!each.contains(&None)).then_some(!decisive)
}

/// Why a pattern of a rule cannot be used, for whoever reads a definition.
pub(crate) fn pattern_fault(pattern: &str) -> Option<String> {
    Pattern::new(pattern, Case::Ignored).err()
}

/// A condition such as `ready` is true or false only where the value is.
fn not_a_truth(source: &str, value: &Value, context: &Object) -> Lack {
    let kind = kind(value);
    let reason = format!("The condition `{source}` gives {kind}; it has to give true or false.");
    match expression::plain_name(source) {
        Some(name) => Lack::misfit(name, value, Like::Truth, reason),
        None => expression::unfit(source, context, reason, &Value::is_boolean),
    }
}

fn follows(rule: &Rule, context: &Object) -> Result<bool, Lack> {
    match rule {
        Rule::Test { name, test, value } => passes(find(context, name), *test, value),
        Rule::Truthy { name } => Ok(find(context, name).is_some_and(is_truthy)),
        Rule::And(rules) => {
            for rule in rules {
                if !follows(rule, context)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Rule::Or(rules) => {
            for rule in rules {
                if follows(rule, context)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Rule::Not(rule) => Ok(!follows(rule, context)?),
    }
}

fn passes(found: Option<&Value>, test: Test, wanted: &Value) -> Result<bool, Lack> {
    let value = found.unwrap_or(&Value::Null);
    Ok(match test {
        Test::Equals => equal(value, wanted),
        Test::NotEquals => !equal(value, wanted),
        Test::Greater => compare(value, wanted).is_some_and(|order| order.is_gt()),
        Test::GreaterOrEqual => compare(value, wanted).is_some_and(|order| order.is_ge()),
        Test::Less => compare(value, wanted).is_some_and(|order| order.is_lt()),
        Test::LessOrEqual => compare(value, wanted).is_some_and(|order| order.is_le()),
        Test::Contains => {
            let has_item =
                value.as_array().is_some_and(|items| items.iter().any(|item| equal(item, wanted)));
            has_item || lower(value).contains(&lower(wanted))
        }
        Test::StartsWith => lower(value).starts_with(&lower(wanted)),
        Test::EndsWith => lower(value).ends_with(&lower(wanted)),
        Test::Matches => Pattern::new(&text(wanted), Case::Ignored)
            .map_err(Lack::wrong)?
            .is_match(text(value).trim()),
        Test::In => {
            wanted.as_array().is_some_and(|items| items.iter().any(|item| equal(value, item)))
        }
        Test::Exists => {
            found.is_some_and(|value| !value.is_null()) == (*wanted != Value::Bool(false))
        }
    })
}

/// Texts are compared without regard to case and to blanks around them.
fn lower(value: &Value) -> String {
    text(value).trim().to_lowercase()
}

/// The kind of a value in plain words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
