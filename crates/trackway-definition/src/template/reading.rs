//! What a template reads from the context, and what it does with it.

use minijinja::machinery::ast::{
    BinOpKind, CallArg, CompareOpKind, Expr, Filter, ForLoop, Stmt, UnaryOpKind,
};
use minijinja::machinery::parse;
use serde_json::json;

use super::names::{given, parts};
use super::syntax;
use crate::lack::Like;
use crate::reads::Reads;
use crate::shape::{Place, SOME_NAME, Step};

pub(super) fn reads(source: &str) -> Reads {
    let mut walk = Walk::default();
    if let Ok(template) = parse(source, "", syntax()) {
        walk.statement(&template);
    }
    walk.reads
}

#[derive(Default)]
struct Walk<'a> {
    reads: Reads,
    /// Names of loops, and where in the context what they stand for is.
    scope: Vec<(&'a str, Option<Place>)>,
}

impl<'a> Walk<'a> {
    fn statements(&mut self, statements: &[Stmt<'a>]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    /// Those statements that [`super::tags`] lets through.
    fn statement(&mut self, statement: &Stmt<'a>) {
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitExpr(emit) => self.value(&emit.expr, Like::Anything),
            Stmt::ForLoop(walk) => self.walk(walk),
            Stmt::IfCond(choice) => {
                self.value(&choice.expr, Like::Anything);
                self.statements(&choice.true_body);
                self.statements(&choice.false_body);
            }
            _ => {}
        }
    }

    fn walk(&mut self, walk: &ForLoop<'a>) {
        self.list(&walk.iter, Like::Anything);
        let item = self.items(&walk.iter);
        let before = self.scope.len();
        self.scope.push(("loop", None));
        match &walk.target {
            Expr::Var(name) => self.scope.push((name.id, item)),
            Expr::List(list) => self.targets(&list.items, item.as_ref(), &walk.iter),
            Expr::Tuple(tuple) => self.targets(&tuple.items, item.as_ref(), &walk.iter),
            _ => {}
        }
        if let Some(filter) = &walk.filter_expr {
            self.value(filter, Like::Anything);
        }
        self.statements(&walk.body);
        self.scope.truncate(before);
        self.statements(&walk.else_body);
    }

    /// `for key, value in object | items` and `for a, b in pairs`.
    fn targets(&mut self, targets: &[Expr<'a>], item: Option<&Place>, over: &Expr<'a>) {
        let object = match over {
            Expr::Filter(filter) if filter.name == "items" => filter.expr.as_ref(),
            _ => None,
        };
        let object = object.and_then(|object| self.place(object));
        for (at, target) in targets.iter().enumerate() {
            let Expr::Var(name) = target else { continue };
            let place = match &object {
                Some(object) => (at == 1).then(|| object.clone().then(Step::Any)),
                None => item.map(|item| item.clone().then(Step::At(at))),
            };
            self.scope.push((name.id, place));
        }
    }

    /// A value that is taken for something.
    fn value(&mut self, expression: &Expr<'a>, like: Like) {
        if let Some(place) = self.place(expression) {
            self.reads.at(&place).take_for(like);
            return;
        }
        match expression {
            Expr::UnaryOp(operation) if matches!(operation.op, UnaryOpKind::Neg) => {
                self.value(&operation.expr, Like::Number);
            }
            Expr::BinOp(operation) => {
                self.value(&operation.left, operand(operation.op, &operation.right));
                self.value(&operation.right, operand(operation.op, &operation.left));
            }
            Expr::Compare(chain) => {
                self.value(&chain.expr, Like::Anything);
                for operation in &chain.ops {
                    let is_in = matches!(operation.op, CompareOpKind::In | CompareOpKind::NotIn);
                    let like = if is_in { Like::List } else { Like::Anything };
                    self.value(&operation.expr, like);
                }
            }
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) => {
                match test.name {
                    "defined" | "undefined" => self.perhaps(&test.expr),
                    "odd" | "even" => self.value(&test.expr, Like::Number),
                    _ => self.value(&test.expr, Like::Anything),
                }
                self.arguments(&test.args);
            }
            // Which of its values is meant, only the context knows.
            Expr::GetItem(get) => {
                match self.place(&get.expr) {
                    Some(place) => self.read(&place.then(Step::Any)),
                    None => self.value(&get.expr, Like::Anything),
                }
                self.value(&get.subscript_expr, Like::Example(json!(SOME_NAME)));
            }
            // What is called is no value of the context.
            Expr::Call(call) => self.arguments(&call.args),
            other => parts(other).into_iter().for_each(|part| self.value(part, Like::Anything)),
        }
    }

    fn filter(&mut self, filter: &Filter<'a>) {
        self.arguments(&filter.args);
        let Some(inner) = &filter.expr else { return };
        match filter.name {
            "default" | "d" => self.perhaps(inner),
            "items" => match self.place(inner) {
                Some(place) => self.read(&place.then(Step::Any)),
                None => self.value(inner, Like::Anything),
            },
            "join" | "list" | "map" | "reject" | "rejectattr" | "reverse" | "select"
            | "selectattr" | "sort" | "unique" => {
                let each = match filter.name {
                    "map" => given(&filter.args, 0).map(|name| taken_for(&name)),
                    _ => None,
                };
                self.list(inner, each.unwrap_or(Like::Anything));
                self.attribute(filter, inner);
            }
            "sum" => {
                self.list(inner, Like::Number);
                self.attribute(filter, inner);
            }
            "max" | "min" => match self.place(inner) {
                Some(place) => self.read(&place.then(Step::At(0))),
                None => self.value(inner, Like::List),
            },
            "first" | "last" => self.value(inner, Like::List),
            name => self.value(inner, taken_for(name)),
        }
    }

    fn read(&mut self, place: &Place) {
        self.reads.at(place);
    }

    /// A list whose items are taken for something.
    fn list(&mut self, list: &Expr<'a>, like: Like) {
        if let Some(items) = self.items(list) {
            let items = self.reads.at(&items);
            if items.is_leaf() {
                items.take_for(like);
            }
        }
        if self.place(list).is_none() {
            self.value(list, Like::List);
        }
    }

    /// The field of each item that a filter goes by.
    fn attribute(&mut self, filter: &Filter<'a>, list: &Expr<'a>) {
        let Some(attribute) = attribute(filter) else { return };
        if let Some(items) = self.items(list) {
            let like = if filter.name == "sum" { Like::Number } else { Like::Anything };
            self.reads.at(&inside(items, &attribute)).take_for(like);
        }
    }

    /// A value that need not be there; what it is a part of has to.
    fn perhaps(&mut self, expression: &Expr<'a>) {
        match self.place(expression) {
            Some(mut place) => {
                if place.steps.pop().is_some() {
                    self.reads.at(&place).take_for(Like::Example(json!({})));
                }
            }
            None => self.value(expression, Like::Anything),
        }
    }

    fn arguments(&mut self, arguments: &[CallArg<'a>]) {
        for argument in arguments {
            let (CallArg::Pos(value)
            | CallArg::Kwarg(_, value)
            | CallArg::PosSplat(value)
            | CallArg::KwargSplat(value)) = argument;
            self.value(value, Like::Anything);
        }
    }

    /// Where in the context a value stands, if it is read from there as it is.
    fn place(&self, expression: &Expr<'a>) -> Option<Place> {
        match expression {
            Expr::Var(name) => {
                let bound = self.scope.iter().rev().find(|(bound, _)| *bound == name.id);
                bound.map_or_else(|| Some(Place::of(name.id)), |(_, place)| place.clone())
            }
            Expr::GetAttr(get) => {
                Some(self.place(&get.expr)?.then(Step::Field(get.name.to_owned())))
            }
            Expr::GetItem(get) => {
                let key = get.subscript_expr.as_const()?;
                let step = match (key.as_str(), i64::try_from(key.clone())) {
                    (Some(name), _) => Step::Field(name.to_owned()),
                    // The last but one needs as many items as the second.
                    (None, Ok(at)) => {
                        Step::At(usize::try_from(if at < 0 { -(at + 1) } else { at }).ok()?)
                    }
                    _ => return None,
                };
                Some(self.place(&get.expr)?.then(step))
            }
            Expr::Filter(filter) => {
                let step = match filter.name {
                    "first" => Step::At(0),
                    "last" => Step::Each,
                    _ => return None,
                };
                Some(self.place(filter.expr.as_ref()?)?.then(step))
            }
            _ => None,
        }
    }

    /// Where the items of a list stand, if they are read from the context as they are.
    fn items(&self, list: &Expr<'a>) -> Option<Place> {
        let Expr::Filter(filter) = list else { return Some(self.place(list)?.then(Step::Each)) };
        let items = self.items(filter.expr.as_ref()?)?;
        match filter.name {
            "list" | "reject" | "rejectattr" | "reverse" | "select" | "selectattr" | "sort"
            | "unique" => Some(items),
            "map" => Some(inside(items, &attribute(filter)?)),
            _ => None,
        }
    }
}

fn inside(place: Place, path: &str) -> Place {
    path.split('.').fold(place, |place, part| place.then(Step::Field(part.to_owned())))
}

/// The name of a field that a filter goes by, if there has to be one.
fn attribute(filter: &Filter<'_>) -> Option<String> {
    if matches!(filter.name, "selectattr" | "rejectattr") {
        return given(&filter.args, 0);
    }
    let named = |name: &str| {
        filter.args.iter().find_map(|argument| match argument {
            CallArg::Kwarg(key, value) if *key == name => Some(value),
            _ => None,
        })
    };
    if named("default").is_some() {
        return None;
    }
    named("attribute")?.as_const()?.as_str().map(str::to_owned)
}

/// What a filter takes its value for, where that is one value.
fn taken_for(filter: &str) -> Like {
    match filter {
        "abs" | "fixed" | "float" | "int" | "round" => Like::Number,
        "capitalize" | "lines" | "lower" | "replace" | "split" | "title" | "trim" | "upper" => {
            Like::Text
        }
        "count" | "length" => Like::List,
        _ => Like::Anything,
    }
}

/// What an operator takes a value for that stands beside another.
fn operand(operator: BinOpKind, beside: &Expr<'_>) -> Like {
    match operator {
        BinOpKind::Sub
        | BinOpKind::Mul
        | BinOpKind::Div
        | BinOpKind::FloorDiv
        | BinOpKind::Rem
        | BinOpKind::Pow => Like::Number,
        BinOpKind::Add => match beside.as_const() {
            Some(value) if value.is_number() => Like::Number,
            Some(value) if value.as_str().is_some() => Like::Text,
            _ => Like::Anything,
        },
        _ => Like::Anything,
    }
}
