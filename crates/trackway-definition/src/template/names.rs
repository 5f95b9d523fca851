//! Filters, tests and functions that a template names and that are not there.
//!
//! The library looks for them when it comes to them, which may be in the middle of a run, where nothing
//! that an agent sends would help. So they are looked for when the file is read.

use minijinja::machinery::ast::{CallArg, Expr, Stmt};
use minijinja::machinery::parse;

use super::filters::{FILTERS, TESTS};
use super::syntax;
use crate::flaw::Flaw;
use crate::suggest::nearest;

/// The first name that is not known, in a template that compiles.
pub(super) fn unknown(source: &str) -> Option<Flaw> {
    in_statement(&parse(source, "", syntax()).ok()?)
}

fn in_statements(statements: &[Stmt<'_>]) -> Option<Flaw> {
    statements.iter().find_map(in_statement)
}

/// Those statements that [`super::tags`] lets through.
fn in_statement(statement: &Stmt<'_>) -> Option<Flaw> {
    match statement {
        Stmt::Template(template) => in_statements(&template.children),
        Stmt::EmitExpr(emit) => in_expression(&emit.expr),
        Stmt::ForLoop(walk) => in_expression(&walk.iter)
            .or_else(|| walk.filter_expr.as_ref().and_then(in_expression))
            .or_else(|| in_statements(&walk.body))
            .or_else(|| in_statements(&walk.else_body)),
        Stmt::IfCond(choice) => in_expression(&choice.expr)
            .or_else(|| in_statements(&choice.true_body))
            .or_else(|| in_statements(&choice.false_body)),
        _ => None,
    }
}

fn in_expression(expression: &Expr<'_>) -> Option<Flaw> {
    let own = match expression {
        Expr::Filter(filter) => no_filter(filter.name).or_else(|| match filter.name {
            "map" => given(&filter.args, 0).and_then(|name| no_filter(&name)),
            "select" | "reject" => given(&filter.args, 0).and_then(|name| no_test(&name)),
            "selectattr" | "rejectattr" => given(&filter.args, 1).and_then(|name| no_test(&name)),
            _ => None,
        }),
        Expr::Test(test) => no_test(test.name),
        Expr::Call(call) => no_function(&call.expr),
        _ => None,
    };
    own.or_else(|| parts(expression).into_iter().find_map(in_expression))
}

/// The expressions that an expression is made of.
pub(super) fn parts<'e, 'a>(expression: &'e Expr<'a>) -> Vec<&'e Expr<'a>> {
    fn values<'e, 'a>(arguments: &'e [CallArg<'a>]) -> impl Iterator<Item = &'e Expr<'a>> {
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
        Expr::Filter(filter) => filter.expr.iter().chain(values(&filter.args)).collect(),
        Expr::Test(test) => [&test.expr].into_iter().chain(values(&test.args)).collect(),
        Expr::GetAttr(get) => vec![&get.expr],
        Expr::GetItem(get) => vec![&get.expr, &get.subscript_expr],
        Expr::Call(call) => [&call.expr].into_iter().chain(values(&call.args)).collect(),
        Expr::List(list) => list.items.iter().collect(),
        Expr::Tuple(tuple) => tuple.items.iter().collect(),
        Expr::Map(map) => map.keys.iter().chain(&map.values).collect(),
    }
}

/// A text that stands at this place of the arguments.
pub(super) fn given(arguments: &[CallArg<'_>], place: usize) -> Option<String> {
    match arguments.get(place)? {
        CallArg::Pos(value) => value.as_const()?.as_str().map(str::to_owned),
        _ => None,
    }
}

fn no_filter(name: &str) -> Option<Flaw> {
    missing("filter", name, FILTERS)
}

fn no_test(name: &str) -> Option<Flaw> {
    missing("test", name, TESTS)
}

fn missing(what: &str, name: &str, known: &[&str]) -> Option<Flaw> {
    if known.contains(&name) {
        return None;
    }
    let meant = nearest(name, known.iter().copied()).map(str::to_owned);
    Some(Flaw { reason: format!("there is no {what} `{name}` in templates"), meant })
}

/// A loop is all that can be called, and the `cycle` that it has.
fn no_function(called: &Expr<'_>) -> Option<Flaw> {
    let name = match called {
        Expr::Var(name) if name.id == "loop" => return None,
        Expr::GetAttr(get) if matches!(&get.expr, Expr::Var(name) if name.id == "loop") => {
            return (get.name != "cycle").then(|| {
                Flaw::from(format!("a loop has no function `{}`, only `cycle`", get.name))
            });
        }
        Expr::Var(name) => name.id,
        Expr::GetAttr(get) => get.name,
        _ => return Some(Flaw::from("there are no functions in templates".to_owned())),
    };
    let reason = format!("there is no function `{name}` in templates, which have filters");
    let meant = nearest(name, FILTERS.iter().copied()).map(|filter| format!("… | {filter}"));
    Some(Flaw { reason, meant })
}
