//! The work of checking a value against a schema, estimated before it is done.
//!
//! Whether a value fits is decided quickly, because the library remembers its result for each reference. A
//! list of the errors is different: a choice is reported with the errors of all its branches. If a branch
//! refers back to the choice, that is exponential in the depth of the value.

use serde_json::Value;

use crate::schema_validation::resolve_schema_reference;

/// Schema locations that a value is checked against to find all errors. A form has a few hundred; each costs
/// some microseconds and up to some kilobytes.
///
/// Limit (Engine): locations of a schema that one value is checked against to list its errors.
const PLACES_MAX: usize = 10_000;

/// Locations of a schema with all its references followed. The library compiles each of them.
///
/// Limit (Definitions): locations of a JSON Schema with its references followed.
const EXPANDED_MAX: usize = 20_000;

/// Nested schemas while errors are listed; the stack has to hold them.
///
/// Limit (Engine): nested schemas while the errors of a value are listed.
const DEPTH_MAX: usize = 512;

/// Values and bytes of text above which a check runs outside the threads that serve requests.
///
/// Limit (Runtime): values and bytes of text in an input that is checked on a serving thread.
const LARGE: usize = 32 * 1024;

/// Values inside a value whose errors are listed with examples, which are tried one by one.
///
/// Limit (MCP): values in an output or a context whose errors are listed one by one.
const MANY_VALUES: usize = 8 * 1024;

/// Keywords that hold one schema for the same value.
const SAME_VALUE: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords that hold a list of schemas for the same value.
const SAME_VALUE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords that hold one schema for every entry or item.
const EACH_INNER: [&str; 7] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "contains",
    "unevaluatedItems",
    "additionalItems",
];

/// Whether all errors of the value can be listed.
pub fn can_list_all_errors(schema: &Value, value: &Value) -> bool {
    ErrorListingCost { root: schema, budget: PLACES_MAX }
        .count_schema_checks(schema, value, DEPTH_MAX)
        .is_some()
}

/// Whether the schema has a choice of several branches anywhere.
pub fn has_schema_alternatives(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(has_schema_alternatives),
        Value::Object(rules) => rules
            .iter()
            .any(|(key, rule)| matches!(key.as_str(), "anyOf" | "oneOf") || has_schema_alternatives(rule)),
        _ => false,
    }
}

/// Whether a value is so large that its check takes a while.
pub fn is_slow_to_validate(value: &Value) -> bool {
    let mut size = 0;
    visit_values_until_stopped(value, |value| {
        size += value.as_str().map_or(1, str::len);
        size <= LARGE
    })
}

/// Whether a value contains too many values to compare them all with each other.
pub fn has_too_many_values(value: &Value) -> bool {
    let mut values = 0;
    visit_values_until_stopped(value, |_| {
        values += 1;
        values <= MANY_VALUES
    })
}

/// Visits a value and everything inside it, until `go_on` returns false. True if it was stopped.
fn visit_values_until_stopped(value: &Value, mut go_on: impl FnMut(&Value) -> bool) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if !go_on(value) {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(entries) => open.extend(entries.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

/// The same for a text, which may be JSON.
pub const fn is_large_text(text: &str) -> bool {
    text.len() > LARGE
}

/// Whether the schema with its references followed stays within the limits. If one definition refers to
/// another twice, which does the same, and so on, the size doubles each time.
pub fn has_bounded_expansion(schema: &Value) -> bool {
    ReferenceExpansion { root: schema, followed: Vec::new(), budget: EXPANDED_MAX }
        .count_expanded_schema(schema)
        .is_some()
}

struct ErrorListingCost<'a> {
    root: &'a Value,
    /// How many locations may still be visited.
    budget: usize,
}

impl<'a> ErrorListingCost<'a> {
    /// None if it is too much.
    fn count_schema_checks(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Option<()> {
        self.budget = self.budget.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let Value::Object(rules) = schema else { return Some(()) };
        for (key, rule) in rules {
            match (key.as_str(), rule) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                    self.count_schema_checks(resolve_schema_reference(self.root, to)?, value, depth)?;
                }
                (key, rule) if SAME_VALUE.contains(&key) => self.count_schema_checks(rule, value, depth)?,
                (key, Value::Array(forms)) if SAME_VALUE_LISTS.contains(&key) => {
                    forms.iter().try_for_each(|form| self.count_schema_checks(form, value, depth))?;
                }
                ("dependentSchemas", Value::Object(schemas)) => {
                    schemas.values().try_for_each(|schema| self.count_schema_checks(schema, value, depth))?;
                }
                ("properties", Value::Object(schemas)) => {
                    for (name, schema) in schemas {
                        if let Some(inner) = value.get(name) {
                            self.count_schema_checks(schema, inner, depth)?;
                        }
                    }
                }
                ("patternProperties", Value::Object(schemas)) => {
                    for schema in schemas.values() {
                        self.count_item_checks(schema, value, depth)?;
                    }
                }
                ("prefixItems" | "items", Value::Array(schemas)) => {
                    for (schema, item) in schemas.iter().zip(value.as_array().into_iter().flatten()) {
                        self.count_schema_checks(schema, item, depth)?;
                    }
                }
                // These accept or refuse everything at once.
                (_, Value::Bool(_)) => {}
                (key, schema) if EACH_INNER.contains(&key) => {
                    self.count_item_checks(schema, value, depth)?;
                }
                _ => {}
            }
        }
        Some(())
    }

    fn count_item_checks(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Option<()> {
        match value {
            Value::Array(items) => {
                items.iter().try_for_each(|item| self.count_schema_checks(schema, item, depth))
            }
            Value::Object(entries) => {
                entries.values().try_for_each(|entry| self.count_schema_checks(schema, entry, depth))
            }
            _ => Some(()),
        }
    }
}

struct ReferenceExpansion<'a> {
    root: &'a Value,
    /// References that are being followed: a schema may refer to itself.
    followed: Vec<&'a str>,
    budget: usize,
}

impl<'a> ReferenceExpansion<'a> {
    fn count_expanded_schema(&mut self, schema: &'a Value) -> Option<()> {
        self.budget = self.budget.checked_sub(1)?;
        match schema {
            Value::Array(items) => items.iter().try_for_each(|item| self.count_expanded_schema(item)),
            Value::Object(rules) => rules.iter().try_for_each(|(key, rule)| {
                match (key.as_str(), rule) {
                    ("$ref", Value::String(to)) => self.follow_reference(to),
                    // Definitions count when they are referred to.
                    ("$defs" | "definitions" | "enum" | "const" | "examples" | "default", _) => Some(()),
                    (_, rule) => self.count_expanded_schema(rule),
                }
            }),
            _ => Some(()),
        }
    }

    fn follow_reference(&mut self, reference: &'a str) -> Option<()> {
        if self.followed.contains(&reference) {
            return Some(());
        }
        // The library refuses a missing target.
        let Some(target) = resolve_schema_reference(self.root, reference) else { return Some(()) };
        self.followed.push(reference);
        let visited = self.count_expanded_schema(target);
        self.followed.pop();
        visited
    }
}

#[cfg(test)]
mod tests;
