//! Whether a condition holds for a context.

mod lenient_values;

use serde_json::Value;
use trackway_domain::Object;

use crate::cel_expression;
use crate::context_error::{ContextError, ExpectedType, find_context_value};
use crate::model::{Comparison, Condition, ConditionRule};
use crate::regex_pattern::{CaseSensitivity, CompiledPattern};
use lenient_values::{coerce_to_text, compare_as_numbers, is_loosely_equal, is_truthy};

/// Whether a condition holds. A CEL expression lacks the unset names that it reads. A rule lacks nothing,
/// because for a rule an unset name is a value like null.
pub(crate) fn condition_holds(condition: &Condition, context: &Object) -> Result<bool, ContextError> {
    match condition {
        Condition::Always => Ok(true),
        Condition::Cel(source) => {
            match cel_expression::evaluate_expression_expecting(source, context, &Value::is_boolean)? {
                Value::Bool(holds) => Ok(holds),
                other => Err(condition_not_boolean_error(source, &other, context)),
            }
        }
        Condition::Rule(rule) => rule_holds(rule, context),
    }
}

/// The unset names that keep a rule undecided: with them it might hold. Empty if the set names decide it, and
/// for expressions, which request what is not set. `exists` is a question about the name itself and is always
/// decided.
pub(crate) fn unset_names_in_condition(condition: &Condition, context: &Object) -> Vec<String> {
    let mut names = Vec::new();
    if let Condition::Rule(rule) = condition {
        decide_rule_from_set_names(rule, context, &mut names);
    }
    names.dedup();
    names
}

/// Whether a rule holds, as far as the set names decide it. None if they do not; then the names that it waits
/// for are added.
fn decide_rule_from_set_names(
    rule: &ConditionRule,
    context: &Object,
    names: &mut Vec<String>,
) -> Option<bool> {
    let before = names.len();
    let outcome = match rule {
        ConditionRule::Test { name, test, .. }
            if *test != Comparison::Exists && find_context_value(context, name).is_none() =>
        {
            names.push(name.clone());
            None
        }
        ConditionRule::Truthy { name } if find_context_value(context, name).is_none() => {
            names.push(name.clone());
            None
        }
        ConditionRule::Test { .. } | ConditionRule::Truthy { .. } => rule_holds(rule, context).ok(),
        ConditionRule::And(rules) => decide_rule_list(rules, false, context, names),
        ConditionRule::Or(rules) => decide_rule_list(rules, true, context, names),
        ConditionRule::Not(rule) => decide_rule_from_set_names(rule, context, names).map(|holds| !holds),
    };
    if outcome.is_some() {
        names.truncate(before);
    }
    outcome
}

/// Several rules: one rule with the outcome `decisive` decides for all.
fn decide_rule_list(
    rules: &[ConditionRule],
    decisive: bool,
    context: &Object,
    names: &mut Vec<String>,
) -> Option<bool> {
    let each: Vec<Option<bool>> =
        rules.iter().map(|rule| decide_rule_from_set_names(rule, context, names)).collect();
    if each.contains(&Some(decisive)) {
        return Some(decisive);
    }
    (!each.contains(&None)).then_some(!decisive)
}

/// Why a pattern of a rule cannot be used, for the reader of definitions.
pub(crate) fn condition_pattern_error(pattern: &str) -> Option<String> {
    CompiledPattern::new(pattern, CaseSensitivity::Insensitive).err()
}

/// A condition such as `ready` is true or false only if the value is.
fn condition_not_boolean_error(source: &str, value: &Value, context: &Object) -> ContextError {
    let kind = describe_value_kind(value);
    let reason = format!("The condition `{source}` gives {kind}; it has to give true or false.");
    match cel_expression::expression_name_path(source) {
        Some(name) => ContextError::invalid_value(name, value, ExpectedType::Boolean, reason),
        None => cel_expression::unusable_value_error(source, context, reason, &Value::is_boolean),
    }
}

fn rule_holds(rule: &ConditionRule, context: &Object) -> Result<bool, ContextError> {
    match rule {
        ConditionRule::Test { name, test, value } => {
            comparison_holds(find_context_value(context, name), *test, value)
        }
        ConditionRule::Truthy { name } => Ok(find_context_value(context, name).is_some_and(is_truthy)),
        ConditionRule::And(rules) => {
            for rule in rules {
                if !rule_holds(rule, context)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        ConditionRule::Or(rules) => {
            for rule in rules {
                if rule_holds(rule, context)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        ConditionRule::Not(rule) => Ok(!rule_holds(rule, context)?),
    }
}

fn comparison_holds(found: Option<&Value>, test: Comparison, expected: &Value) -> Result<bool, ContextError> {
    let value = found.unwrap_or(&Value::Null);
    Ok(match test {
        Comparison::Equals => is_loosely_equal(value, expected),
        Comparison::NotEquals => !is_loosely_equal(value, expected),
        Comparison::Greater => compare_as_numbers(value, expected).is_some_and(|order| order.is_gt()),
        Comparison::GreaterOrEqual => compare_as_numbers(value, expected).is_some_and(|order| order.is_ge()),
        Comparison::Less => compare_as_numbers(value, expected).is_some_and(|order| order.is_lt()),
        Comparison::LessOrEqual => compare_as_numbers(value, expected).is_some_and(|order| order.is_le()),
        Comparison::Contains => {
            let has_item = value
                .as_array()
                .is_some_and(|items| items.iter().any(|item| is_loosely_equal(item, expected)));
            has_item || normalize_for_comparison(value).contains(&normalize_for_comparison(expected))
        }
        Comparison::StartsWith => {
            normalize_for_comparison(value).starts_with(&normalize_for_comparison(expected))
        }
        Comparison::EndsWith => {
            normalize_for_comparison(value).ends_with(&normalize_for_comparison(expected))
        }
        Comparison::Matches => CompiledPattern::new(&coerce_to_text(expected), CaseSensitivity::Insensitive)
            .map_err(ContextError::invalid_without_name)?
            .is_match(coerce_to_text(value).trim()),
        Comparison::In => {
            expected.as_array().is_some_and(|items| items.iter().any(|item| is_loosely_equal(value, item)))
        }
        Comparison::Exists => {
            found.is_some_and(|value| !value.is_null()) == (*expected != Value::Bool(false))
        }
    })
}

/// Texts are compared without case and surrounding blanks.
fn normalize_for_comparison(value: &Value) -> String {
    coerce_to_text(value).trim().to_lowercase()
}

/// The kind of a value in plain words.
pub(crate) fn describe_value_kind(value: &Value) -> &'static str {
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
