//! Conditions: a CEL expression as text, or a rule as data.

use serde_json::Value;

use super::file_value::FileValue;
use crate::condition::condition_pattern_error;
use crate::model::{Comparison, Condition, ConditionRule};

/// The tests that a rule may name, by their keys.
const TESTS: [(&str, Comparison); 12] = [
    ("equals", Comparison::Equals),
    ("not_equals", Comparison::NotEquals),
    ("gt", Comparison::Greater),
    ("gte", Comparison::GreaterOrEqual),
    ("lt", Comparison::Less),
    ("lte", Comparison::LessOrEqual),
    ("contains", Comparison::Contains),
    ("startsWith", Comparison::StartsWith),
    ("endsWith", Comparison::EndsWith),
    ("matches", Comparison::Matches),
    ("in", Comparison::In),
    ("exists", Comparison::Exists),
];

impl FileValue<'_> {
    /// None if it cannot be read; a finding is reported.
    pub(super) fn parse_condition(&self) -> Option<Condition> {
        match self.value {
            Value::String(_) if self.report_if_legacy_boolean() => None,
            Value::String(_) => self.expect_cel_expression().map(|text| Condition::Cel(text.to_owned())),
            Value::Bool(true) => Some(Condition::Always),
            Value::Bool(false) => Some(Condition::Rule(never_true_rule())),
            Value::Object(map) if map.is_empty() => Some(Condition::Always),
            Value::Object(_) => self.parse_condition_rule().map(Condition::Rule),
            _ => {
                self.report_expected_kind("a condition: an expression as text, or a rule as an object");
                None
            }
        }
    }

    fn parse_condition_rule(&self) -> Option<ConditionRule> {
        let fields = self.expect_object()?;
        let mut rules = Vec::new();
        let name = fields.get_and_mark_known("var");
        let path = name.as_ref().and_then(|name| name.expect_nonempty_text());
        for (key, test) in TESTS {
            let Some(at) = fields.get_and_mark_known(key) else { continue };
            if name.is_none() {
                at.report_finding(format!("`{key}` tests a name of the context: `var` is missing"));
            }
            if let (Some(path), Some(value)) = (path, at.parse_comparison_operand(test)) {
                rules.push(ConditionRule::Test { name: path.to_owned(), test, value });
            }
        }
        for key in ["and", "or"] {
            let Some(at) = fields.get_and_mark_known(key) else { continue };
            let parts = at.expect_list().iter().filter_map(FileValue::parse_condition_rule).collect();
            rules.push(if key == "and" { ConditionRule::And(parts) } else { ConditionRule::Or(parts) });
        }
        if let Some(inner) = fields.get_and_mark_known("not").and_then(|at| at.parse_condition_rule()) {
            rules.push(ConditionRule::Not(Box::new(inner)));
        }
        fields.report_unknown_keys_with(|at, key| {
            at.report_unsupported_construct(format!("`{key}` is not known in a condition"))
        });
        match (rules.len(), path) {
            (0, Some(path)) => Some(ConditionRule::Truthy { name: path.to_owned() }),
            (0, None) => Some(ConditionRule::And(Vec::new())),
            (1, _) => rules.pop(),
            _ => Some(ConditionRule::And(rules)),
        }
    }

    /// The value that a test compares with.
    fn parse_comparison_operand(&self, test: Comparison) -> Option<Value> {
        let fits = match test {
            Comparison::Greater | Comparison::GreaterOrEqual | Comparison::Less | Comparison::LessOrEqual => {
                self.value.is_number() || self.report_expected_and_fail("a number")
            }
            Comparison::StartsWith | Comparison::EndsWith => {
                self.value.is_string() || self.report_expected_and_fail("text")
            }
            Comparison::In => self.value.is_array() || self.report_expected_and_fail("a list"),
            Comparison::Exists => self.value.is_boolean() || self.report_expected_and_fail("true or false"),
            Comparison::Matches => {
                self.expect_text().is_some_and(|text| self.check_regex_pattern(text, condition_pattern_error))
            }
            Comparison::Equals | Comparison::NotEquals | Comparison::Contains => true,
        };
        fits.then(|| self.value.clone())
    }

    fn report_expected_and_fail(&self, what: &str) -> bool {
        self.report_expected_kind(what);
        false
    }
}

fn never_true_rule() -> ConditionRule {
    ConditionRule::Or(Vec::new())
}
