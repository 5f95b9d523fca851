//! Finds calls of functions that do not exist.
//!
//! The library looks functions up during evaluation, which may be in the middle of a run, where no input of
//! an agent would help. So they are checked when the file is read.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr};

use super::cel_cost_estimate::sub_expressions;
use super::cel_variable_reads::expression_as_name_path;
use crate::compile_error::CompileError;
use crate::spelling_suggestion::nearest_known_word;

/// A function and how many arguments it takes: as `size(a)`, and as `a.size()`.
struct FunctionArity {
    name: &'static str,
    plain: Option<usize>,
    method: Option<usize>,
}

const fn function(name: &'static str, plain: Option<usize>, method: Option<usize>) -> FunctionArity {
    FunctionArity { name, plain, method }
}

/// The CEL functions for values that JSON has.
const FUNCTIONS: [FunctionArity; 20] = [
    function("bool", Some(1), None),
    function("bytes", Some(1), None),
    function("contains", None, Some(1)),
    function("double", Some(1), None),
    function("dyn", Some(1), None),
    function("endsWith", None, Some(1)),
    function("hasValue", None, Some(0)),
    function("int", Some(1), None),
    function("matches", Some(2), Some(1)),
    function("optional.none", Some(0), None),
    function("optional.of", Some(1), None),
    function("optional.ofNonZeroValue", Some(1), None),
    function("or", None, Some(1)),
    function("orValue", None, Some(1)),
    function("size", Some(1), Some(0)),
    function("startsWith", None, Some(1)),
    function("string", Some(1), None),
    function("type", Some(1), None),
    function("uint", Some(1), None),
    function("value", None, Some(0)),
];

/// The parser replaces them if they are written correctly.
const MACROS: [&str; 7] = ["all", "exists", "exists_one", "existsOne", "filter", "has", "map"];

/// The first call of a function that does not exist.
pub(super) fn find_unknown_cel_function(expression: &IdedExpr) -> Option<CompileError> {
    let own = match &expression.expr {
        Expr::Call(call) if is_function_name(&call.func_name) => check_function_call(call),
        _ => None,
    };
    own.or_else(|| sub_expressions(expression).find_map(find_unknown_cel_function))
}

/// Operators are calls too; their names contain signs.
fn is_function_name(name: &str) -> bool {
    name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn check_function_call(call: &CallExpr) -> Option<CompileError> {
    let name = call.func_name.as_str();
    let count = call.args.len();
    let named = |name: &str| FUNCTIONS.iter().find(|known| known.name == name);
    // `optional.of(1)` is a function with a dot in its name.
    let target = call.target.as_deref();
    let full = target.and_then(expression_as_name_path).map(|target| format!("{target}.{name}"));
    if full.and_then(|full| named(&full)).is_some_and(|known| known.plain == Some(count)) {
        return None;
    }
    let Some(known) = named(name) else {
        if MACROS.contains(&name) {
            return Some(CompileError::from(format!("`{name}` does not take these arguments")));
        }
        let all = FUNCTIONS.iter().map(|known| known.name).chain(MACROS);
        let suggestion = nearest_known_word(name, all).map(str::to_owned);
        return Some(CompileError {
            reason: format!("there is no function `{name}` in expressions"),
            suggestion,
        });
    };
    let takes = if target.is_some() { known.method } else { known.plain };
    if takes == Some(count) {
        return None;
    }
    let forms = [
        known.plain.map(|count| format_example_call("", name, count)),
        known.method.map(|count| format_example_call("a.", name, count)),
    ];
    let forms: Vec<String> = forms.into_iter().flatten().collect();
    Some(CompileError::from(format!("`{name}` is written as {}", forms.join(" or "))))
}

fn format_example_call(before: &str, name: &str, count: usize) -> String {
    let values: Vec<&str> = ["b", "c"].into_iter().take(count).collect();
    format!("`{before}{name}({})`", values.join(", "))
}

#[cfg(test)]
mod tests;
