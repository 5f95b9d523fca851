//! Why an expression has no value: which name is not set, or what does not fit.

use cel::{ExecutionError, IdedExpr};
use trackway_domain::Object;

use super::{
    CONTEXT_NAME, ValueCheck, cel_conversion, cel_cost_estimate, cel_variable_reads, evaluate_compiled,
};
use crate::context_error::{ContextError, ExpectedType, find_context_value, top_level_name};
use crate::context_reads::EvaluationError;

/// People and models read a reason; values in it can be of any length.
/// Limit (Definitions): reason why a condition was not met.
const REASON_CHARS_MAX: usize = 300;

pub(super) fn context_error_from_execution(
    error: &ExecutionError,
    source: &str,
    expression: &IdedExpr,
    context: &Object,
    accepts_value: ValueCheck<'_>,
) -> ContextError {
    let unfit = format!("`{source}` gives something of another kind.");
    find_context_cause(evaluation_error(error, source), source, &unfit, expression, context, accepts_value)
}

/// Why the value of an expression cannot be used.
pub(super) fn context_error_from_unusable_value(
    reason: &str,
    source: &str,
    expression: &IdedExpr,
    context: &Object,
    accepts_value: ValueCheck<'_>,
) -> ContextError {
    let failure = EvaluationError { reason: truncate_reason(reason), unset: None };
    find_context_cause(failure, source, reason, expression, context, accepts_value)
}

/// What is wrong, with the name under which another value would work. If none is found, it is the first name
/// that is read.
fn find_context_cause(
    found: EvaluationError,
    source: &str,
    unusable_reason: &str,
    expression: &IdedExpr,
    context: &Object,
    accepts_value: ValueCheck<'_>,
) -> ContextError {
    let reads = cel_variable_reads::collect_expression_reads(expression);
    let whole = expression.references().variables().contains(&CONTEXT_NAME);
    let shown = if whole { context.clone() } else { reads.select_read_names(context) };
    let tried = |trial: &Object| {
        let refused = |reason: &str| EvaluationError { reason: truncate_reason(reason), unset: None };
        cel_cost_estimate::check_expression_cost(expression, trial).map_err(|reason| refused(&reason))?;
        let value = evaluate_compiled(expression, trial).map_err(|error| evaluation_error(&error, source))?;
        let value = cel_conversion::cel_to_json(&value).map_err(|reason| refused(&reason))?;
        if accepts_value(&value) { Ok(()) } else { Err(refused(unusable_reason)) }
    };
    let Some(first) = reads.first_read_path() else {
        return ContextError::invalid_without_name(found.reason);
    };
    reads.find_context_error(&found, &shown, &tried).unwrap_or_else(|| {
        let got = find_context_value(context, &first).or_else(|| context.get(top_level_name(&first)));
        let got = got.cloned();
        ContextError::Invalid {
            reason: found.reason,
            got,
            name: Some(first),
            expected: ExpectedType::Anything,
        }
    })
}

fn evaluation_error(error: &ExecutionError, source: &str) -> EvaluationError {
    let unset = match error {
        ExecutionError::UndeclaredReference(name) => Some((**name).clone()),
        _ => None,
    };
    EvaluationError {
        reason: truncate_reason(&format!(
            "`{source}` cannot be evaluated: {}.",
            describe_execution_error(error)
        )),
        unset,
    }
}

fn truncate_reason(reason: &str) -> String {
    reason.chars().take(REASON_CHARS_MAX).collect()
}

fn describe_execution_error(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchOverload(error) => format!(
            "`{}` does not take {}",
            error.function().replace(['_', '@'], ""),
            error.argument_types().join(" and ")
        ),
        ExecutionError::UnsupportedBinaryOperator(operator, left, right) => {
            format!("`{operator}` does not take {} and {}", left.type_of(), right.type_of())
        }
        ExecutionError::ValuesNotComparable(left, right) => {
            format!("{} and {} cannot be compared", left.type_of(), right.type_of())
        }
        ExecutionError::UnexpectedType { got, want } => format!("it needs {want} and finds {got}"),
        ExecutionError::NoSuchKey(key) => format!("there is no `{key}`"),
        ExecutionError::UndeclaredReference(name) => format!("there is no function `{name}`"),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "it divides by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "the number becomes too large".to_owned(),
        ExecutionError::IndexOutOfBounds(place) => match place {
            cel::Value::Int(place) => format!("the list has no place {place}"),
            _ => "the list is shorter".to_owned(),
        },
        other => other.to_string(),
    }
}
