//! Conditions: a CEL expression as text, or a rule as data.

use serde_json::Value;

use super::file_value::FileValue;
use crate::condition::pattern_error;
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
            Value::String(_) if self.is_legacy_boolean() => None,
            Value::String(_) => self.expect_expression().map(|text| Condition::Cel(text.to_owned())),
            Value::Bool(true) => Some(Condition::Always),
            Value::Bool(false) => Some(Condition::Rule(never_rule())),
            Value::Object(map) if map.is_empty() => Some(Condition::Always),
            Value::Object(_) => self.parse_rule().map(Condition::Rule),
            _ => {
                self.report_expected("a condition: an expression as text, or a rule as an object");
                None
            }
        }
    }

    fn parse_rule(&self) -> Option<ConditionRule> {
        let fields = self.expect_object()?;
        let mut rules = Vec::new();
        let name = fields.get("var");
        let path = name.as_ref().and_then(|name| name.expect_nonempty_text());
        for (key, test) in TESTS {
            let Some(at) = fields.get(key) else { continue };
            if name.is_none() {
                at.report(format!("`{key}` tests a name of the context: `var` is missing"));
            }
            if let (Some(path), Some(value)) = (path, at.parse_operand(test)) {
                rules.push(ConditionRule::Test { name: path.to_owned(), test, value });
            }
        }
        for key in ["and", "or"] {
            let Some(at) = fields.get(key) else { continue };
            let parts = at.expect_list().iter().filter_map(FileValue::parse_rule).collect();
            rules.push(if key == "and" { ConditionRule::And(parts) } else { ConditionRule::Or(parts) });
        }
        if let Some(inner) = fields.get("not").and_then(|at| at.parse_rule()) {
            rules.push(ConditionRule::Not(Box::new(inner)));
        }
        fields.report_unknown_keys_with(|at, key| {
            at.report_unsupported(format!("`{key}` is not known in a condition"))
        });
        match (rules.len(), path) {
            (0, Some(path)) => Some(ConditionRule::Truthy { name: path.to_owned() }),
            (0, None) => Some(ConditionRule::And(Vec::new())),
            (1, _) => rules.pop(),
            _ => Some(ConditionRule::And(rules)),
        }
    }

    /// The value that a test compares with.
    fn parse_operand(&self, test: Comparison) -> Option<Value> {
        let fits = match test {
            Comparison::Greater | Comparison::GreaterOrEqual | Comparison::Less | Comparison::LessOrEqual => {
                self.value.is_number() || self.fail_expected("a number")
            }
            Comparison::StartsWith | Comparison::EndsWith => {
                self.value.is_string() || self.fail_expected("text")
            }
            Comparison::In => self.value.is_array() || self.fail_expected("a list"),
            Comparison::Exists => self.value.is_boolean() || self.fail_expected("true or false"),
            Comparison::Matches => {
                self.expect_text().is_some_and(|text| self.check_pattern(text, pattern_error))
            }
            Comparison::Equals | Comparison::NotEquals | Comparison::Contains => true,
        };
        fits.then(|| self.value.clone())
    }

    fn fail_expected(&self, what: &str) -> bool {
        self.report_expected(what);
        false
    }
}

fn never_rule() -> ConditionRule {
    ConditionRule::Or(Vec::new())
}
