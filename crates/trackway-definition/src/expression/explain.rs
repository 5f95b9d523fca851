//! Why an expression has no value: which name is not set, or what does not fit.

use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use cel::{ExecutionError, IdedExpr};
use serde_json::{Value, json};
use trackway_domain::Object;

use super::{Fits, WHOLE, bound::parts, trial};
use crate::lack::{Lack, Like, find, grown, root};

/// A reason is read by people and models; values in it can be of any length.
const REASON_CHARS_MAX: usize = 300;

/// A name that an expression reads from the context, and what the expression takes it for.
pub(super) struct Used {
    pub(super) path: String,
    pub(super) like: Like,
}

pub(super) fn lack(
    error: &ExecutionError,
    source: &str,
    expression: &IdedExpr,
    context: &Object,
    fits: Fits<'_>,
) -> Lack {
    let mut used = Vec::new();
    collect(expression, &mut Vec::new(), Like::Anything, &mut used);
    let missing = match error {
        ExecutionError::UndeclaredReference(name) => {
            used.iter().any(|used| root(&used.path) == name.as_str()).then(|| (**name).clone())
        }
        ExecutionError::NoSuchKey(key) => used
            .iter()
            .filter_map(|used| first_missing(&used.path, context))
            .find(|missing| missing.rsplit('.').next() == Some(key.as_str())),
        _ => None,
    };
    match missing {
        Some(name) => {
            let like = match wanted(&name, &used) {
                Like::Anything => trial::like(expression, context, &used, &name, fits),
                like => like,
            };
            Lack::Missing { name, like, others: Vec::new() }
        }
        None => {
            let reason = format!("`{source}` cannot be worked out: {}.", said(error));
            blamed(&reason, expression, context, &used, fits)
        }
    }
}

/// Why an expression has a value that is of no use.
pub(super) fn unfit(reason: &str, expression: &IdedExpr, context: &Object, fits: Fits<'_>) -> Lack {
    let mut used = Vec::new();
    collect(expression, &mut Vec::new(), Like::Anything, &mut used);
    blamed(reason, expression, context, &used, fits)
}

/// What is wrong, with the name under which another value would do. Where none is found, it is the first
/// that is read.
fn blamed(
    reason: &str,
    expression: &IdedExpr,
    context: &Object,
    used: &[Used],
    fits: Fits<'_>,
) -> Lack {
    let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
    let Some(first) = used.first() else { return Lack::wrong(reason) };
    let (name, like) = trial::mend(expression, context, used, fits)
        .unwrap_or_else(|| (first.path.clone(), Like::Anything));
    let got = find(context, &name).or_else(|| context.get(root(&name)));
    Lack::Wrong { reason, got: got.cloned(), name: Some(name), like }
}

/// The path of names that an expression is, if it is nothing else: `a.b["c"]`.
pub(super) fn path(expression: &IdedExpr) -> Option<String> {
    let full = full_path(expression)?;
    match full.strip_prefix(WHOLE) {
        Some("") => None,
        Some(rest) if rest.starts_with('.') => Some(rest[1..].to_owned()),
        _ => Some(full),
    }
}

fn full_path(expression: &IdedExpr) -> Option<String> {
    match &expression.expr {
        Expr::Ident(name) => Some(name.trim_start_matches('.').to_owned()),
        Expr::Select(select) if !select.test => {
            Some(format!("{}.{}", full_path(&select.operand)?, select.field))
        }
        Expr::Call(call) if call.func_name == operators::INDEX => {
            let [operand, index] = call.args.as_slice() else { return None };
            match literal(index)? {
                Value::String(key) => Some(format!("{}.{key}", full_path(operand)?)),
                Value::Number(place) => Some(format!("{}.{place}", full_path(operand)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Every path that is read from the context, in order, leaving out the names of macros.
fn collect<'e>(
    expression: &'e IdedExpr,
    scope: &mut Vec<&'e str>,
    like: Like,
    used: &mut Vec<Used>,
) {
    if let Some(path) = path(expression) {
        let root = root(&path);
        if !scope.contains(&root) && !root.starts_with('@') {
            used.push(Used { path, like });
        }
        return;
    }
    match &expression.expr {
        Expr::Comprehension(walk) => {
            collect(&walk.iter_range, scope, Like::List, used);
            let before = scope.len();
            scope.extend([walk.iter_var.as_str(), walk.accu_var.as_str()]);
            scope.extend(walk.iter_var2.as_deref());
            collect(&walk.loop_step, scope, Like::Anything, used);
            scope.truncate(before);
        }
        Expr::Call(call) => {
            for part in parts(expression) {
                let like = taken_for(call, part);
                collect(part, scope, like, used);
            }
        }
        _ => parts(expression).for_each(|part| collect(part, scope, Like::Anything, used)),
    }
}

/// What a call takes one of its parts for, as far as that can be seen.
fn taken_for(call: &CallExpr, part: &IdedExpr) -> Like {
    let other = call.args.iter().find(|other| other.id != part.id);
    let known = other.and_then(literal);
    let is_target = call.target.as_ref().is_some_and(|target| target.id == part.id);
    match (call.func_name.as_str(), known) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, _) => Like::Truth,
        (operators::CONDITIONAL, _)
            if call.args.first().is_some_and(|first| first.id == part.id) =>
        {
            Like::Truth
        }
        (
            operators::EQUALS
            | operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS
            | operators::ADD
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO
            | operators::NOT_EQUALS,
            Some(known),
        ) => Like::Example(known),
        (operators::IN, Some(known)) => Like::Example(json!([known])),
        (operators::IN, None) if call.args.first().is_some_and(|first| first.id == part.id) => {
            first_item(other).map_or(Like::Anything, Like::Example)
        }
        ("@ordered" | "size", _) => Like::List,
        ("startsWith" | "endsWith" | "contains" | "matches", _) if is_target => Like::Text,
        _ => Like::Anything,
    }
}

fn first_item(list: Option<&IdedExpr>) -> Option<Value> {
    match &list?.expr {
        Expr::List(list) => literal(list.elements.first()?),
        _ => None,
    }
}

fn literal(expression: &IdedExpr) -> Option<Value> {
    let Expr::Literal(literal) = &expression.expr else { return None };
    Some(match literal {
        LiteralValue::Boolean(truth) => json!(*truth.inner()),
        LiteralValue::Int(int) => json!(*int.inner()),
        LiteralValue::UInt(uint) => json!(*uint.inner()),
        LiteralValue::Double(double) => json!(*double.inner()),
        LiteralValue::String(text) => json!(text.inner()),
        LiteralValue::Null => Value::Null,
        LiteralValue::Bytes(_) => return None,
    })
}

/// The shortest part of a path that is not set.
fn first_missing(path: &str, context: &Object) -> Option<String> {
    let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
    ends.map(|end| &path[..end]).find(|part| find(context, part).is_none()).map(str::to_owned)
}

/// What a missing name would have to be like, with all that is read beneath it.
fn wanted(name: &str, used: &[Used]) -> Like {
    let beneath = used.iter().filter_map(|used| {
        let rest = used.path.strip_prefix(name)?.strip_prefix('.')?;
        Some((rest, used.like.example()))
    });
    match grown(beneath) {
        Some(object) => Like::Example(object),
        None => used
            .iter()
            .find(|used| used.path == name)
            .map_or(Like::Anything, |used| used.like.clone()),
    }
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
