//! Conditions: a CEL expression as text, or a rule as data.

use serde_json::Value;

use super::cursor::At;
use crate::condition::pattern_fault;
use crate::model::{Condition, Rule, Test};

/// The tests that a rule may name, by their keys.
const TESTS: [(&str, Test); 12] = [
    ("equals", Test::Equals),
    ("not_equals", Test::NotEquals),
    ("gt", Test::Greater),
    ("gte", Test::GreaterOrEqual),
    ("lt", Test::Less),
    ("lte", Test::LessOrEqual),
    ("contains", Test::Contains),
    ("startsWith", Test::StartsWith),
    ("endsWith", Test::EndsWith),
    ("matches", Test::Matches),
    ("in", Test::In),
    ("exists", Test::Exists),
];

impl At<'_> {
    /// None where it cannot be read; that is noted.
    pub(super) fn condition(&self) -> Option<Condition> {
        match self.value {
            Value::String(_) if self.is_old_truth() => None,
            Value::String(_) => self.cel().map(|text| Condition::Cel(text.to_owned())),
            Value::Bool(true) => Some(Condition::Always),
            Value::Bool(false) => Some(Condition::Rule(never())),
            Value::Object(map) if map.is_empty() => Some(Condition::Always),
            Value::Object(_) => self.rule().map(Condition::Rule),
            _ => {
                self.expected("a condition: an expression as text, or a rule as an object");
                None
            }
        }
    }

    fn rule(&self) -> Option<Rule> {
        let fields = self.object()?;
        let mut rules = Vec::new();
        let name = fields.get("var");
        let path = name.as_ref().and_then(|name| name.filled());
        for (key, test) in TESTS {
            let Some(at) = fields.get(key) else { continue };
            if name.is_none() {
                at.fault(format!("`{key}` tests a name of the context: `var` is missing"));
            }
            if let (Some(path), Some(value)) = (path, at.operand(test)) {
                rules.push(Rule::Test { name: path.to_owned(), test, value });
            }
        }
        for key in ["and", "or"] {
            let Some(at) = fields.get(key) else { continue };
            let parts = at.list().iter().filter_map(At::rule).collect();
            rules.push(if key == "and" { Rule::And(parts) } else { Rule::Or(parts) });
        }
        if let Some(inner) = fields.get("not").and_then(|at| at.rule()) {
            rules.push(Rule::Not(Box::new(inner)));
        }
        fields.finish_with(|at, key| at.beyond(format!("`{key}` is not known in a condition")));
        match (rules.len(), path) {
            (0, Some(path)) => Some(Rule::Truthy { name: path.to_owned() }),
            (0, None) => Some(Rule::And(Vec::new())),
            (1, _) => rules.pop(),
            _ => Some(Rule::And(rules)),
        }
    }

    /// What a test compares with.
    fn operand(&self, test: Test) -> Option<Value> {
        let fits = match test {
            Test::Greater | Test::GreaterOrEqual | Test::Less | Test::LessOrEqual => {
                self.value.is_number() || self.expects("a number")
            }
            Test::StartsWith | Test::EndsWith => self.value.is_string() || self.expects("text"),
            Test::In => self.value.is_array() || self.expects("a list"),
            Test::Exists => self.value.is_boolean() || self.expects("true or false"),
            Test::Matches => self.text().is_some_and(|text| self.pattern(text, pattern_fault)),
            Test::Equals | Test::NotEquals | Test::Contains => true,
        };
        fits.then(|| self.value.clone())
    }

    fn expects(&self, what: &str) -> bool {
        self.expected(what);
        false
    }
}

fn never() -> Rule {
    Rule::Or(Vec::new())
}
