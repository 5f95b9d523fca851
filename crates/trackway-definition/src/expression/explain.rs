//! Why an expression has no value: which name is not set, or what does not fit.

use cel::{ExecutionError, IdedExpr};
use trackway_domain::Object;

use super::{Fits, WHOLE, bound, convert, reading, resolve};
use crate::lack::{Lack, Like, find, root};
use crate::reads::Failure;

/// A reason is read by people and models; values in it can be of any length.
/// Limit (Definitions): reason why a condition was not met.
const REASON_CHARS_MAX: usize = 300;

pub(super) fn lack(
    error: &ExecutionError,
    source: &str,
    expression: &IdedExpr,
    context: &Object,
    fits: Fits<'_>,
) -> Lack {
    let unfit = format!("`{source}` gives something of another kind.");
    blamed(failure(error, source), source, &unfit, expression, context, fits)
}

/// Why an expression has a value that is of no use.
pub(super) fn unfit(
    reason: &str,
    source: &str,
    expression: &IdedExpr,
    context: &Object,
    fits: Fits<'_>,
) -> Lack {
    let failure = Failure { reason: short(reason), unset: None };
    blamed(failure, source, reason, expression, context, fits)
}

/// What is wrong, with the name under which another value would do. Where none is found, it is the first
/// that is read.
fn blamed(
    found: Failure,
    source: &str,
    unfit: &str,
    expression: &IdedExpr,
    context: &Object,
    fits: Fits<'_>,
) -> Lack {
    let reads = reading::reads(expression);
    let whole = expression.references().variables().contains(&WHOLE);
    let shown = if whole { context.clone() } else { reads.of(context) };
    let tried = |trial: &Object| {
        let refused = |reason: &str| Failure { reason: short(reason), unset: None };
        bound::check(expression, trial).map_err(|reason| refused(&reason))?;
        let value = resolve(expression, trial).map_err(|error| failure(&error, source))?;
        let value = convert::json(&value).map_err(|reason| refused(&reason))?;
        if fits(&value) { Ok(()) } else { Err(refused(unfit)) }
    };
    let Some(first) = reads.first() else { return Lack::wrong(found.reason) };
    reads.lack(&found, &shown, &tried).unwrap_or_else(|| {
        let got = find(context, &first).or_else(|| context.get(root(&first)));
        let got = got.cloned();
        Lack::Wrong { reason: found.reason, got, name: Some(first), like: Like::Anything }
    })
}

fn failure(error: &ExecutionError, source: &str) -> Failure {
    let unset = match error {
        ExecutionError::UndeclaredReference(name) => Some((**name).clone()),
        _ => None,
    };
    Failure { reason: short(&format!("`{source}` cannot be worked out: {}.", said(error))), unset }
}

fn short(reason: &str) -> String {
    reason.chars().take(REASON_CHARS_MAX).collect()
}

fn said(error: &ExecutionError) -> String {
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
