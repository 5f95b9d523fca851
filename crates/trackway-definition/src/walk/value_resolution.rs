//! Values that the walk reads from the context: lists, numbers, arguments.

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::{BlockReason, Object};

use super::{Walker, context_size_limits};
use crate::{
    cel_expression::{ValueCheck, evaluate_expression, evaluate_expression_expecting, unusable_value_error},
    context_error::{ContextError, ExpectedType, find_context_value},
    context_facts,
    model::{LoopRoundCount, Step, ValueExpression},
};

impl Walker<'_> {
    /// The list that a loop or a map iterates over.
    pub(super) fn resolve_loop_list(
        &mut self,
        step: &Step,
        source: &ValueExpression,
    ) -> Result<Vec<Value>, BlockReason> {
        let expected = self.expected_list_type(step, source);
        let required = RequiredStepValue { step: &step.id, source, what: "a list", expected };
        self.read_context_supplying_facts(|names| {
            match required.resolve_required_value(names, &Value::is_array)? {
                Value::Array(items) => Ok(items),
                other => Err(required.invalid_value_error(&other, names, &Value::is_array)),
            }
        })
    }

    /// What the list has to be, by what the steps read of its items. It is only computed if there is no list.
    fn expected_list_type(&self, step: &Step, source: &ValueExpression) -> ExpectedType {
        let path = match source {
            ValueExpression::Name(path) => path,
            ValueExpression::Cel(_) => return ExpectedType::List,
        };
        if find_context_value(&self.context, path).is_some_and(Value::is_array) {
            return ExpectedType::List;
        }
        match context_facts::loop_item_shape(step) {
            Some(shape) if !(shape.is_leaf_shape() && shape.expected == ExpectedType::Anything) => {
                ExpectedType::Shape(Box::new(shape.into_list_shape()))
            }
            _ => ExpectedType::List,
        }
    }

    /// How many rounds a loop has.
    pub(super) fn resolve_round_count(
        &mut self,
        step: &str,
        amount: &LoopRoundCount,
    ) -> Result<u64, BlockReason> {
        let source = match amount {
            LoopRoundCount::Number(number) => return Ok(u64::from(*number)),
            LoopRoundCount::From(source) => source,
        };
        let required =
            RequiredStepValue { step, source, what: "a whole number", expected: ExpectedType::Count };
        let fits = |value: &Value| as_non_negative_integer(value).is_some();
        self.read_context_supplying_facts(|names| {
            let value = required.resolve_required_value(names, &fits)?;
            as_non_negative_integer(&value).ok_or_else(|| required.invalid_value_error(&value, names, &fits))
        })
    }

    /// Literal values; a text that begins with `=` is an expression.
    pub(crate) fn resolve_value_expressions(
        &mut self,
        values: &BTreeMap<String, Value>,
    ) -> Result<Object, BlockReason> {
        let each = values.iter().map(|(name, value)| {
            let value = self.resolve_value_expression(value)?;
            context_size_limits::check_value_size(name, &value)?;
            Ok((name.clone(), value))
        });
        each.collect()
    }

    fn resolve_value_expression(&mut self, value: &Value) -> Result<Value, BlockReason> {
        match value {
            Value::String(text) => match text.strip_prefix('=') {
                Some(plain) if plain.starts_with('=') => Ok(Value::String(plain.to_owned())),
                Some(source) => self.read_context_supplying_facts(|names| evaluate_expression(source, names)),
                None => Ok(value.clone()),
            },
            Value::Array(items) => {
                let each = items.iter().map(|item| self.resolve_value_expression(item));
                each.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            Value::Object(entries) => {
                let each = entries
                    .iter()
                    .map(|(name, entry)| Ok((name.clone(), self.resolve_value_expression(entry)?)));
                each.collect::<Result<Object, _>>().map(Value::Object)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
        }
    }
}

/// A value that a step needs.
struct RequiredStepValue<'a> {
    step: &'a str,
    source: &'a ValueExpression,
    what: &'static str,
    expected: ExpectedType,
}

impl RequiredStepValue<'_> {
    fn resolve_required_value(&self, context: &Object, fits: ValueCheck<'_>) -> Result<Value, ContextError> {
        match self.source.context_name_path() {
            Some(name) => match find_context_value(context, &name) {
                Some(value) => Ok(value.clone()),
                None => Err(ContextError::missing_name(name).with_expected_type(self.expected.clone())),
            },
            None => evaluate_expression_expecting(expression_source_text(self.source), context, fits),
        }
    }

    fn invalid_value_error(&self, got: &Value, context: &Object, fits: ValueCheck<'_>) -> ContextError {
        let (step, what, source) = (self.step, self.what, expression_source_text(self.source));
        let reason = format!("`{step}` needs {what} in `{source}`, which holds something else.");
        match self.source.context_name_path() {
            Some(name) => ContextError::invalid_value(name, got, self.expected.clone(), reason),
            None => unusable_value_error(source, context, reason, fits),
        }
    }
}

fn expression_source_text(source: &ValueExpression) -> &str {
    let (ValueExpression::Name(text) | ValueExpression::Cel(text)) = source;
    text
}

/// A non-negative number without a fraction, however it is written.
fn as_non_negative_integer(value: &Value) -> Option<u64> {
    /// Beyond this, not every whole number is exact as a float.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    if number.fract() != 0.0 || !(0.0..=EXACT_MAX).contains(&number) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative, and within range"
    )]
    Some(number as u64)
}
