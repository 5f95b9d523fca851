//! Finds names of filters, tests and functions that do not exist.
//!
//! The library looks names up during rendering, which may be in the middle of a run, where no input of an
//! agent would help. So they are checked when the file is read.

use minijinja::machinery::ast::{CallArg, Expr, Stmt};
use minijinja::machinery::parse;

use super::template_filters::{FILTERS, TESTS};
use super::template_syntax_config;
use crate::compile_error::CompileError;
use crate::spelling_suggestion::nearest_known_word;

/// The first unknown name, in a template that compiles.
pub(super) fn find_unknown_filter_or_function(source: &str) -> Option<CompileError> {
    check_statement_names(&parse(source, "", template_syntax_config()).ok()?)
}

fn check_statement_list_names(statements: &[Stmt<'_>]) -> Option<CompileError> {
    statements.iter().find_map(check_statement_names)
}

/// The statements that [`super::template_tag_check`] allows.
fn check_statement_names(statement: &Stmt<'_>) -> Option<CompileError> {
    match statement {
        Stmt::Template(template) => check_statement_list_names(&template.children),
        Stmt::EmitExpr(emit) => check_expression_names(&emit.expr),
        Stmt::ForLoop(walk) => check_expression_names(&walk.iter)
            .or_else(|| walk.filter_expr.as_ref().and_then(check_expression_names))
            .or_else(|| check_statement_list_names(&walk.body))
            .or_else(|| check_statement_list_names(&walk.else_body)),
        Stmt::IfCond(choice) => check_expression_names(&choice.expr)
            .or_else(|| check_statement_list_names(&choice.true_body))
            .or_else(|| check_statement_list_names(&choice.false_body)),
        _ => None,
    }
}

fn check_expression_names(expression: &Expr<'_>) -> Option<CompileError> {
    let own = match expression {
        Expr::Filter(filter) => check_filter_name(filter.name).or_else(|| match filter.name {
            "map" => literal_text_argument(&filter.args, 0).and_then(|name| check_filter_name(&name)),
            "select" | "reject" => {
                literal_text_argument(&filter.args, 0).and_then(|name| check_test_name(&name))
            }
            "selectattr" | "rejectattr" => {
                literal_text_argument(&filter.args, 1).and_then(|name| check_test_name(&name))
            }
            _ => None,
        }),
        Expr::Test(test) => check_test_name(test.name),
        Expr::Call(call) => check_function_name(&call.expr),
        _ => None,
    };
    own.or_else(|| template_sub_expressions(expression).into_iter().find_map(check_expression_names))
}

/// The direct parts of an expression.
pub(super) fn template_sub_expressions<'e, 'a>(expression: &'e Expr<'a>) -> Vec<&'e Expr<'a>> {
    fn argument_values<'e, 'a>(arguments: &'e [CallArg<'a>]) -> impl Iterator<Item = &'e Expr<'a>> {
        arguments.iter().map(|argument| match argument {
            CallArg::Pos(value)
            | CallArg::Kwarg(_, value)
            | CallArg::PosSplat(value)
            | CallArg::KwargSplat(value) => value,
        })
    }
    match expression {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::Slice(slice) => {
            let bounds = [&slice.start, &slice.stop, &slice.step].into_iter().flatten();
            [&slice.expr].into_iter().chain(bounds).collect()
        }
        Expr::UnaryOp(operation) => vec![&operation.expr],
        Expr::BinOp(operation) => vec![&operation.left, &operation.right],
        Expr::Compare(chain) => {
            let others = chain.ops.iter().map(|operation| &operation.expr);
            [&chain.expr].into_iter().chain(others).collect()
        }
        Expr::IfExpr(choice) => {
            let otherwise = choice.false_expr.as_ref();
            [&choice.test_expr, &choice.true_expr].into_iter().chain(otherwise).collect()
        }
        Expr::Filter(filter) => filter.expr.iter().chain(argument_values(&filter.args)).collect(),
        Expr::Test(test) => [&test.expr].into_iter().chain(argument_values(&test.args)).collect(),
        Expr::GetAttr(get) => vec![&get.expr],
        Expr::GetItem(get) => vec![&get.expr, &get.subscript_expr],
        Expr::Call(call) => [&call.expr].into_iter().chain(argument_values(&call.args)).collect(),
        Expr::List(list) => list.items.iter().collect(),
        Expr::Tuple(tuple) => tuple.items.iter().collect(),
        Expr::Map(map) => map.keys.iter().chain(&map.values).collect(),
    }
}

/// The text argument at this index.
pub(super) fn literal_text_argument(arguments: &[CallArg<'_>], index: usize) -> Option<String> {
    match arguments.get(index)? {
        CallArg::Pos(value) => value.as_const()?.as_str().map(str::to_owned),
        _ => None,
    }
}

fn check_filter_name(name: &str) -> Option<CompileError> {
    check_known_name("filter", name, FILTERS)
}

fn check_test_name(name: &str) -> Option<CompileError> {
    check_known_name("test", name, TESTS)
}

fn check_known_name(what: &str, name: &str, known_names: &[&str]) -> Option<CompileError> {
    if known_names.contains(&name) {
        return None;
    }
    let suggestion = nearest_known_word(name, known_names.iter().copied()).map(str::to_owned);
    Some(CompileError { reason: format!("there is no {what} `{name}` in templates"), suggestion })
}

/// Only a loop can be called, and only its `cycle`.
fn check_function_name(called: &Expr<'_>) -> Option<CompileError> {
    let name = match called {
        Expr::Var(name) if name.id == "loop" => return None,
        Expr::GetAttr(get) if matches!(&get.expr, Expr::Var(name) if name.id == "loop") => {
            return (get.name != "cycle")
                .then(|| CompileError::from(format!("a loop has no function `{}`, only `cycle`", get.name)));
        }
        Expr::Var(name) => name.id,
        Expr::GetAttr(get) => get.name,
        _ => return Some(CompileError::from("there are no functions in templates".to_owned())),
    };
    let reason = format!("there is no function `{name}` in templates, which have filters");
    let suggestion = nearest_known_word(name, FILTERS.iter().copied()).map(|filter| format!("… | {filter}"));
    Some(CompileError { reason, suggestion })
}
