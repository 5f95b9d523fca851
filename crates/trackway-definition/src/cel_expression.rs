//! CEL expressions over the context. Values go in as values and come out as values: what an agent sends is
//! never read as part of an expression.
//!
//! Every name of the context is a variable, and `context` is the whole context, so that `has(context.name)`
//! tests a name that may not be set.

mod cel_conversion;
mod cel_cost_estimate;
mod cel_failure_explanation;
mod cel_function_check;
mod cel_key_order;
mod cel_variable_reads;

use std::sync::{Arc, LazyLock};

use cel::parser::PrattParser;
use cel::{Context, Env, ExecutionError, IdedExpr, ParseErrors};
use serde_json::Value;
use trackway_domain::Object;

use crate::compile_error::CompileError;
use crate::context_error::ContextError;
use crate::context_reads::ContextReads;

/// A condition or a mapping, not a program.
/// Limit (Definitions): text of one expression.
const SOURCE_BYTES_MAX: usize = 4 * 1024;

/// Nested brackets and choices; the parser uses the thread's stack.
/// Limit (Definitions): nested brackets in an expression.
const NESTING_MAX: u16 = 24;

/// The variable that is the whole context.
const CONTEXT_NAME: &str = "context";

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// Whether a value fits the purpose of the expression.
pub(crate) type ValueCheck<'f> = &'f dyn Fn(&Value) -> bool;

/// The value of an expression.
pub(crate) fn evaluate_expression(source: &str, context: &Object) -> Result<Value, ContextError> {
    evaluate_expression_expecting(source, context, &|_| true)
}

/// The value of an expression. If it has none, the error requests values that lead to a result that fits, if
/// they can be found: otherwise the next request might undo this one.
pub(crate) fn evaluate_expression_expecting(
    source: &str,
    context: &Object,
    accepts_value: ValueCheck<'_>,
) -> Result<Value, ContextError> {
    let expression = compile_with_sorted_keys(source).map_err(ContextError::invalid_without_name)?;
    cel_cost_estimate::check_expression_cost(&expression, context)
        .map_err(ContextError::invalid_without_name)?;
    let value = evaluate_compiled(&expression, context).map_err(|error| {
        cel_failure_explanation::context_error_from_execution(
            &error,
            source,
            &expression,
            context,
            accepts_value,
        )
    })?;
    cel_conversion::cel_to_json(&value)
        .map_err(|reason| ContextError::invalid_without_name(format!("`{source}` gives {reason}.")))
}

/// The error for a value of an expression that does not fit, with this reason.
pub(crate) fn unusable_value_error(
    source: &str,
    context: &Object,
    reason: String,
    accepts_value: ValueCheck<'_>,
) -> ContextError {
    match compile_with_sorted_keys(source) {
        Ok(expression) => cel_failure_explanation::context_error_from_unusable_value(
            &reason,
            source,
            &expression,
            context,
            accepts_value,
        ),
        Err(_) => ContextError::invalid_without_name(reason),
    }
}

fn compile_with_sorted_keys(source: &str) -> Result<IdedExpr, String> {
    let mut expression = compile_expression(source)?;
    cel_key_order::insert_key_sorting(&mut expression);
    Ok(expression)
}

fn evaluate_compiled(expression: &IdedExpr, context: &Object) -> Result<cel::Value, ExecutionError> {
    let mut variables = Context::with_env(ENVIRONMENT.clone());
    cel_key_order::declare_key_sort_function(&mut variables);
    for name in expression.references().variables() {
        if name == CONTEXT_NAME {
            variables.add_variable_from_value(CONTEXT_NAME, cel_conversion::object_to_cel(context));
        } else if let Some(value) = context.get(name) {
            variables.add_variable_from_value(name, cel_conversion::json_to_cel(value));
        }
    }
    cel::Value::resolve(expression, &variables)
}

/// Why a text can never be a usable expression, for the reader of definitions.
pub(crate) fn find_expression_error(source: &str) -> Option<CompileError> {
    match compile_expression(source) {
        Ok(expression) => cel_function_check::find_unknown_cel_function(&expression),
        Err(reason) => Some(CompileError::from(reason)),
    }
}

/// The name, if an expression is only a name or a path of names.
pub(crate) fn expression_name_path(source: &str) -> Option<String> {
    cel_variable_reads::expression_as_name_path(&compile_expression(source).ok()?)
}

/// What an expression reads; nothing if it is not valid.
pub(crate) fn expression_reads(source: &str) -> ContextReads {
    compile_expression(source)
        .map(|expression| cel_variable_reads::collect_expression_reads(&expression))
        .unwrap_or_default()
}

fn compile_expression(source: &str) -> Result<IdedExpr, String> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(format!("An expression has at most {SOURCE_BYTES_MAX} bytes."));
    }
    let parser =
        PrattParser::new().max_recursion_depth(NESTING_MAX).error_recovery_limit(0).error_reporting_limit(1);
    let expression = parser
        .parse(source)
        .map_err(|errors| format!("`{source}` is no CEL expression: {}", format_parse_errors(&errors)))?;
    cel_cost_estimate::check_expression_depth(&expression)?;
    Ok(expression)
}

/// What is wrong with an expression, and where. The parser's note that it gave up after the first error has
/// no position; the error has one.
fn format_parse_errors(errors: &ParseErrors) -> String {
    let placed = errors.errors.iter().find(|error| error.pos.0 > 0);
    let Some(error) = placed.or(errors.errors.first()) else { return "it is not whole".to_owned() };
    let message = error.msg.trim_start_matches("Syntax error: ");
    let message = message.replace("'<EOF>'", "the end").replace("<EOF>", "the end");
    let mismatch = message.strip_prefix("mismatched input ");
    let message = match mismatch.and_then(|rest| rest.split_once(" expecting ")) {
        Some((found, "expression")) => format!("found {found} where a value is expected"),
        Some((found, expected)) => format!("found {found} where {expected} is expected"),
        None => message,
    };
    match error.pos {
        (..=0, _) => message,
        (1, column) => format!("{message}, at column {column}"),
        (line, column) => format!("{message}, at line {line}, column {column}"),
    }
}

#[cfg(test)]
mod tests;
