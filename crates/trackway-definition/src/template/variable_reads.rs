//! What a template reads from the context, and which type it expects.

use minijinja::machinery::ast::{
    BinOpKind, CallArg, CompareOpKind, Expr, Filter, ForLoop, Stmt, UnaryOpKind,
};
use minijinja::machinery::parse;
use serde_json::json;

use super::name_check::{sub_expressions, text_argument};
use super::syntax_config;
use crate::context_error::ExpectedType;
use crate::context_reads::ContextReads;
use crate::value_shape::{ContextPath, PathSegment, SOME_NAME};

pub(super) fn collect_reads(source: &str) -> ContextReads {
    let mut walk = ReadCollector::default();
    if let Ok(template) = parse(source, "", syntax_config()) {
        walk.visit_statement(&template);
    }
    walk.reads
}

#[derive(Default)]
struct ReadCollector<'a> {
    reads: ContextReads,
    /// Loop variables, and the context path that each is bound to.
    scope: Vec<(&'a str, Option<ContextPath>)>,
}

impl<'a> ReadCollector<'a> {
    fn visit_statements(&mut self, statements: &[Stmt<'a>]) {
        statements.iter().for_each(|statement| self.visit_statement(statement));
    }

    /// The statements that [`super::tag_check`] allows.
    fn visit_statement(&mut self, statement: &Stmt<'a>) {
        match statement {
            Stmt::Template(template) => self.visit_statements(&template.children),
            Stmt::EmitExpr(emit) => self.visit_value(&emit.expr, ExpectedType::Anything),
            Stmt::ForLoop(walk) => self.visit_for_loop(walk),
            Stmt::IfCond(choice) => {
                self.visit_value(&choice.expr, ExpectedType::Anything);
                self.visit_statements(&choice.true_body);
                self.visit_statements(&choice.false_body);
            }
            _ => {}
        }
    }

    fn visit_for_loop(&mut self, walk: &ForLoop<'a>) {
        self.visit_list(&walk.iter, ExpectedType::Anything);
        let item = self.item_path(&walk.iter);
        let before = self.scope.len();
        self.scope.push(("loop", None));
        match &walk.target {
            Expr::Var(name) => self.scope.push((name.id, item)),
            Expr::List(list) => self.bind_targets(&list.items, item.as_ref(), &walk.iter),
            Expr::Tuple(tuple) => self.bind_targets(&tuple.items, item.as_ref(), &walk.iter),
            _ => {}
        }
        if let Some(filter) = &walk.filter_expr {
            self.visit_value(filter, ExpectedType::Anything);
        }
        self.visit_statements(&walk.body);
        self.scope.truncate(before);
        self.visit_statements(&walk.else_body);
    }

    /// `for key, value in object | items` and `for a, b in pairs`.
    fn bind_targets(&mut self, targets: &[Expr<'a>], item: Option<&ContextPath>, over: &Expr<'a>) {
        let object = match over {
            Expr::Filter(filter) if filter.name == "items" => filter.expr.as_ref(),
            _ => None,
        };
        let object = object.and_then(|object| self.context_path(object));
        for (at, target) in targets.iter().enumerate() {
            let Expr::Var(name) = target else { continue };
            let path = match &object {
                Some(object) => (at == 1).then(|| object.clone().join(PathSegment::AnyField)),
                None => item.map(|item| item.clone().join(PathSegment::Index(at))),
            };
            self.scope.push((name.id, path));
        }
    }

    /// A value with an expected type.
    fn visit_value(&mut self, expression: &Expr<'a>, expected: ExpectedType) {
        if let Some(path) = self.context_path(expression) {
            self.reads.shape_at(&path).expect_type(expected);
            return;
        }
        match expression {
            Expr::UnaryOp(operation) if matches!(operation.op, UnaryOpKind::Neg) => {
                self.visit_value(&operation.expr, ExpectedType::Number);
            }
            Expr::BinOp(operation) => {
                self.visit_value(&operation.left, expected_type_of_operand(operation.op, &operation.right));
                self.visit_value(&operation.right, expected_type_of_operand(operation.op, &operation.left));
            }
            Expr::Compare(chain) => {
                self.visit_value(&chain.expr, ExpectedType::Anything);
                for operation in &chain.ops {
                    let is_in = matches!(operation.op, CompareOpKind::In | CompareOpKind::NotIn);
                    let expected = if is_in { ExpectedType::List } else { ExpectedType::Anything };
                    self.visit_value(&operation.expr, expected);
                }
            }
            Expr::Filter(filter) => self.visit_filter(filter),
            Expr::Test(test) => {
                match test.name {
                    "defined" | "undefined" => self.visit_optional(&test.expr),
                    "odd" | "even" => self.visit_value(&test.expr, ExpectedType::Number),
                    _ => self.visit_value(&test.expr, ExpectedType::Anything),
                }
                self.visit_arguments(&test.args);
            }
            // Only the context decides which of its values is read.
            Expr::GetItem(get) => {
                match self.context_path(&get.expr) {
                    Some(path) => self.add_read(&path.join(PathSegment::AnyField)),
                    None => self.visit_value(&get.expr, ExpectedType::Anything),
                }
                self.visit_value(&get.subscript_expr, ExpectedType::Example(json!(SOME_NAME)));
            }
            // What is called is not a value of the context.
            Expr::Call(call) => self.visit_arguments(&call.args),
            other => sub_expressions(other)
                .into_iter()
                .for_each(|part| self.visit_value(part, ExpectedType::Anything)),
        }
    }

    fn visit_filter(&mut self, filter: &Filter<'a>) {
        self.visit_arguments(&filter.args);
        let Some(inner) = &filter.expr else { return };
        match filter.name {
            "default" | "d" => self.visit_optional(inner),
            "items" => match self.context_path(inner) {
                Some(path) => self.add_read(&path.join(PathSegment::AnyField)),
                None => self.visit_value(inner, ExpectedType::Anything),
            },
            "join" | "list" | "map" | "reject" | "rejectattr" | "reverse" | "select" | "selectattr"
            | "sort" | "unique" => {
                let each = match filter.name {
                    "map" => text_argument(&filter.args, 0).map(|name| expected_type_of_filter(&name)),
                    _ => None,
                };
                self.visit_list(inner, each.unwrap_or(ExpectedType::Anything));
                self.visit_attribute(filter, inner);
            }
            "sum" => {
                self.visit_list(inner, ExpectedType::Number);
                self.visit_attribute(filter, inner);
            }
            "max" | "min" => match self.context_path(inner) {
                Some(path) => self.add_read(&path.join(PathSegment::Index(0))),
                None => self.visit_value(inner, ExpectedType::List),
            },
            "first" | "last" => self.visit_value(inner, ExpectedType::List),
            name => self.visit_value(inner, expected_type_of_filter(name)),
        }
    }

    fn add_read(&mut self, path: &ContextPath) {
        self.reads.shape_at(path);
    }

    /// A list whose items have an expected type.
    fn visit_list(&mut self, list: &Expr<'a>, expected: ExpectedType) {
        if let Some(items) = self.item_path(list) {
            let items = self.reads.shape_at(&items);
            if items.is_leaf() {
                items.expect_type(expected);
            }
        }
        if self.context_path(list).is_none() {
            self.visit_value(list, ExpectedType::List);
        }
    }

    /// The field of each item that a filter uses.
    fn visit_attribute(&mut self, filter: &Filter<'a>, list: &Expr<'a>) {
        let Some(attribute) = filter_attribute(filter) else { return };
        if let Some(items) = self.item_path(list) {
            let expected = if filter.name == "sum" { ExpectedType::Number } else { ExpectedType::Anything };
            self.reads.shape_at(&extend_path(items, &attribute)).expect_type(expected);
        }
    }

    /// A value that may be missing; its parent may not.
    fn visit_optional(&mut self, expression: &Expr<'a>) {
        match self.context_path(expression) {
            Some(mut path) => {
                if path.segments.pop().is_some() {
                    self.reads.shape_at(&path).expect_type(ExpectedType::Example(json!({})));
                }
            }
            None => self.visit_value(expression, ExpectedType::Anything),
        }
    }

    fn visit_arguments(&mut self, arguments: &[CallArg<'a>]) {
        for argument in arguments {
            let (CallArg::Pos(value)
            | CallArg::Kwarg(_, value)
            | CallArg::PosSplat(value)
            | CallArg::KwargSplat(value)) = argument;
            self.visit_value(value, ExpectedType::Anything);
        }
    }

    /// The context path of a value that is read unchanged from there.
    fn context_path(&self, expression: &Expr<'a>) -> Option<ContextPath> {
        match expression {
            Expr::Var(name) => {
                let bound = self.scope.iter().rev().find(|(bound, _)| *bound == name.id);
                bound.map_or_else(|| Some(ContextPath::from_name(name.id)), |(_, path)| path.clone())
            }
            Expr::GetAttr(get) => {
                Some(self.context_path(&get.expr)?.join(PathSegment::Field(get.name.to_owned())))
            }
            Expr::GetItem(get) => {
                let key = get.subscript_expr.as_const()?;
                let step = match (key.as_str(), i64::try_from(key.clone())) {
                    (Some(name), _) => PathSegment::Field(name.to_owned()),
                    // The item before the last needs as many items as the second.
                    (None, Ok(at)) => {
                        PathSegment::Index(usize::try_from(if at < 0 { -(at + 1) } else { at }).ok()?)
                    }
                    _ => return None,
                };
                Some(self.context_path(&get.expr)?.join(step))
            }
            Expr::Filter(filter) => {
                let step = match filter.name {
                    "first" => PathSegment::Index(0),
                    "last" => PathSegment::EachItem,
                    _ => return None,
                };
                Some(self.context_path(filter.expr.as_ref()?)?.join(step))
            }
            _ => None,
        }
    }

    /// The context path of the items of a list, if they are read unchanged.
    fn item_path(&self, list: &Expr<'a>) -> Option<ContextPath> {
        let Expr::Filter(filter) = list else {
            return Some(self.context_path(list)?.join(PathSegment::EachItem));
        };
        let items = self.item_path(filter.expr.as_ref()?)?;
        match filter.name {
            "list" | "reject" | "rejectattr" | "reverse" | "select" | "selectattr" | "sort" | "unique" => {
                Some(items)
            }
            "map" => Some(extend_path(items, &filter_attribute(filter)?)),
            _ => None,
        }
    }
}

fn extend_path(base: ContextPath, path: &str) -> ContextPath {
    path.split('.').fold(base, |base, part| base.join(PathSegment::Field(part.to_owned())))
}

/// The field name that a filter uses, if there has to be one.
fn filter_attribute(filter: &Filter<'_>) -> Option<String> {
    if matches!(filter.name, "selectattr" | "rejectattr") {
        return text_argument(&filter.args, 0);
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

/// The type that a filter expects, if it takes one value.
fn expected_type_of_filter(filter: &str) -> ExpectedType {
    match filter {
        "abs" | "fixed" | "float" | "int" | "round" => ExpectedType::Number,
        "capitalize" | "lines" | "lower" | "replace" | "split" | "title" | "trim" | "upper" => {
            ExpectedType::Text
        }
        "count" | "length" => ExpectedType::List,
        _ => ExpectedType::Anything,
    }
}

/// The type that an operator expects of a value, given the other operand.
fn expected_type_of_operand(operator: BinOpKind, beside: &Expr<'_>) -> ExpectedType {
    match operator {
        BinOpKind::Sub
        | BinOpKind::Mul
        | BinOpKind::Div
        | BinOpKind::FloorDiv
        | BinOpKind::Rem
        | BinOpKind::Pow => ExpectedType::Number,
        BinOpKind::Add => match beside.as_const() {
            Some(value) if value.is_number() => ExpectedType::Number,
            Some(value) if value.as_str().is_some() => ExpectedType::Text,
            _ => ExpectedType::Anything,
        },
        _ => ExpectedType::Anything,
    }
}
