//! What a template reads from the context, and which type it expects.

use minijinja::machinery::ast::{
    BinOpKind, CallArg, CompareOpKind, Expr, Filter, ForLoop, Stmt, UnaryOpKind,
};
use minijinja::machinery::parse;
use serde_json::json;

use super::template_name_check::{literal_text_argument, template_sub_expressions};
use super::template_syntax_config;
use crate::context_error::ExpectedType;
use crate::context_reads::ContextReads;
use crate::value_shape::{ContextPath, ContextPathSegment, SOME_NAME};

pub(super) fn collect_template_reads(source: &str) -> ContextReads {
    let mut walk = TemplateReadCollector::default();
    if let Ok(template) = parse(source, "", template_syntax_config()) {
        walk.visit_statement(&template);
    }
    walk.reads
}

#[derive(Default)]
struct TemplateReadCollector<'a> {
    reads: ContextReads,
    /// Loop variables, and the context path that each is bound to.
    scope: Vec<(&'a str, Option<ContextPath>)>,
}

impl<'a> TemplateReadCollector<'a> {
    fn visit_statements(&mut self, statements: &[Stmt<'a>]) {
        statements.iter().for_each(|statement| self.visit_statement(statement));
    }

    /// The statements that [`super::template_tag_check`] allows.
    fn visit_statement(&mut self, statement: &Stmt<'a>) {
        match statement {
            Stmt::Template(template) => self.visit_statements(&template.children),
            Stmt::EmitExpr(emit) => self.visit_expression_value(&emit.expr, ExpectedType::Anything),
            Stmt::ForLoop(walk) => self.visit_for_loop(walk),
            Stmt::IfCond(choice) => {
                self.visit_expression_value(&choice.expr, ExpectedType::Anything);
                self.visit_statements(&choice.true_body);
                self.visit_statements(&choice.false_body);
            }
            _ => {}
        }
    }

    fn visit_for_loop(&mut self, for_loop: &ForLoop<'a>) {
        self.visit_list_items(&for_loop.iter, ExpectedType::Anything);
        let item = self.list_item_path(&for_loop.iter);
        let before = self.scope.len();
        self.scope.push(("loop", None));
        match &for_loop.target {
            Expr::Var(name) => self.scope.push((name.id, item)),
            Expr::List(list) => self.bind_loop_targets(&list.items, item.as_ref(), &for_loop.iter),
            Expr::Tuple(tuple) => self.bind_loop_targets(&tuple.items, item.as_ref(), &for_loop.iter),
            _ => {}
        }
        if let Some(filter) = &for_loop.filter_expr {
            self.visit_expression_value(filter, ExpectedType::Anything);
        }
        self.visit_statements(&for_loop.body);
        self.scope.truncate(before);
        self.visit_statements(&for_loop.else_body);
    }

    /// `for key, value in object | items` and `for a, b in pairs`.
    fn bind_loop_targets(&mut self, targets: &[Expr<'a>], item: Option<&ContextPath>, iterated: &Expr<'a>) {
        let object = match iterated {
            Expr::Filter(filter) if filter.name == "items" => filter.expr.as_ref(),
            _ => None,
        };
        let object = object.and_then(|object| self.context_path_of_expression(object));
        for (at, target) in targets.iter().enumerate() {
            let Expr::Var(name) = target else { continue };
            let path = match &object {
                Some(object) => (at == 1).then(|| object.clone().with_segment(ContextPathSegment::AnyField)),
                None => item.map(|item| item.clone().with_segment(ContextPathSegment::Index(at))),
            };
            self.scope.push((name.id, path));
        }
    }

    /// A value with an expected type.
    fn visit_expression_value(&mut self, expression: &Expr<'a>, expected: ExpectedType) {
        if let Some(path) = self.context_path_of_expression(expression) {
            self.reads.shape_at_path_mut(&path).expect_type_if_unset(expected);
            return;
        }
        match expression {
            Expr::UnaryOp(operation) if matches!(operation.op, UnaryOpKind::Neg) => {
                self.visit_expression_value(&operation.expr, ExpectedType::Number);
            }
            Expr::BinOp(operation) => {
                self.visit_expression_value(
                    &operation.left,
                    expected_type_of_operand(operation.op, &operation.right),
                );
                self.visit_expression_value(
                    &operation.right,
                    expected_type_of_operand(operation.op, &operation.left),
                );
            }
            Expr::Compare(chain) => {
                self.visit_expression_value(&chain.expr, ExpectedType::Anything);
                for operation in &chain.ops {
                    let is_in = matches!(operation.op, CompareOpKind::In | CompareOpKind::NotIn);
                    let expected = if is_in { ExpectedType::List } else { ExpectedType::Anything };
                    self.visit_expression_value(&operation.expr, expected);
                }
            }
            Expr::Filter(filter) => self.visit_filter(filter),
            Expr::Test(test) => {
                match test.name {
                    "defined" | "undefined" => self.visit_optional_value(&test.expr),
                    "odd" | "even" => self.visit_expression_value(&test.expr, ExpectedType::Number),
                    _ => self.visit_expression_value(&test.expr, ExpectedType::Anything),
                }
                self.visit_arguments(&test.args);
            }
            // Only the context decides which of its values is read.
            Expr::GetItem(get) => {
                match self.context_path_of_expression(&get.expr) {
                    Some(path) => self.add_context_read(&path.with_segment(ContextPathSegment::AnyField)),
                    None => self.visit_expression_value(&get.expr, ExpectedType::Anything),
                }
                self.visit_expression_value(&get.subscript_expr, ExpectedType::Example(json!(SOME_NAME)));
            }
            // What is called is not a value of the context.
            Expr::Call(call) => self.visit_arguments(&call.args),
            other => template_sub_expressions(other)
                .into_iter()
                .for_each(|part| self.visit_expression_value(part, ExpectedType::Anything)),
        }
    }

    fn visit_filter(&mut self, filter: &Filter<'a>) {
        self.visit_arguments(&filter.args);
        let Some(inner) = &filter.expr else { return };
        match filter.name {
            "default" | "d" => self.visit_optional_value(inner),
            "items" => match self.context_path_of_expression(inner) {
                Some(path) => self.add_context_read(&path.with_segment(ContextPathSegment::AnyField)),
                None => self.visit_expression_value(inner, ExpectedType::Anything),
            },
            "join" | "list" | "map" | "reject" | "rejectattr" | "reverse" | "select" | "selectattr"
            | "sort" | "unique" => {
                let each = match filter.name {
                    "map" => {
                        literal_text_argument(&filter.args, 0).map(|name| expected_type_of_filter(&name))
                    }
                    _ => None,
                };
                self.visit_list_items(inner, each.unwrap_or(ExpectedType::Anything));
                self.visit_filter_attribute(filter, inner);
            }
            "sum" => {
                self.visit_list_items(inner, ExpectedType::Number);
                self.visit_filter_attribute(filter, inner);
            }
            "max" | "min" => match self.context_path_of_expression(inner) {
                Some(path) => self.add_context_read(&path.with_segment(ContextPathSegment::Index(0))),
                None => self.visit_expression_value(inner, ExpectedType::List),
            },
            "first" | "last" => self.visit_expression_value(inner, ExpectedType::List),
            name => self.visit_expression_value(inner, expected_type_of_filter(name)),
        }
    }

    fn add_context_read(&mut self, path: &ContextPath) {
        self.reads.shape_at_path_mut(path);
    }

    /// A list whose items have an expected type.
    fn visit_list_items(&mut self, list: &Expr<'a>, expected: ExpectedType) {
        if let Some(items) = self.list_item_path(list) {
            let items = self.reads.shape_at_path_mut(&items);
            if items.is_leaf_shape() {
                items.expect_type_if_unset(expected);
            }
        }
        if self.context_path_of_expression(list).is_none() {
            self.visit_expression_value(list, ExpectedType::List);
        }
    }

    /// The field of each item that a filter uses.
    fn visit_filter_attribute(&mut self, filter: &Filter<'a>, list: &Expr<'a>) {
        let Some(attribute) = filter_attribute_name(filter) else { return };
        if let Some(items) = self.list_item_path(list) {
            let expected = if filter.name == "sum" { ExpectedType::Number } else { ExpectedType::Anything };
            self.reads
                .shape_at_path_mut(&extend_context_path(items, &attribute))
                .expect_type_if_unset(expected);
        }
    }

    /// A value that may be missing; its parent may not.
    fn visit_optional_value(&mut self, expression: &Expr<'a>) {
        match self.context_path_of_expression(expression) {
            Some(mut path) => {
                if path.segments.pop().is_some() {
                    self.reads
                        .shape_at_path_mut(&path)
                        .expect_type_if_unset(ExpectedType::Example(json!({})));
                }
            }
            None => self.visit_expression_value(expression, ExpectedType::Anything),
        }
    }

    fn visit_arguments(&mut self, arguments: &[CallArg<'a>]) {
        for argument in arguments {
            let (CallArg::Pos(value)
            | CallArg::Kwarg(_, value)
            | CallArg::PosSplat(value)
            | CallArg::KwargSplat(value)) = argument;
            self.visit_expression_value(value, ExpectedType::Anything);
        }
    }

    /// The context path of a value that is read unchanged from there.
    fn context_path_of_expression(&self, expression: &Expr<'a>) -> Option<ContextPath> {
        match expression {
            Expr::Var(name) => {
                let bound = self.scope.iter().rev().find(|(bound, _)| *bound == name.id);
                bound.map_or_else(|| Some(ContextPath::from_context_name(name.id)), |(_, path)| path.clone())
            }
            Expr::GetAttr(get) => Some(
                self.context_path_of_expression(&get.expr)?
                    .with_segment(ContextPathSegment::Field(get.name.to_owned())),
            ),
            Expr::GetItem(get) => {
                let key = get.subscript_expr.as_const()?;
                let step = match (key.as_str(), i64::try_from(key.clone())) {
                    (Some(name), _) => ContextPathSegment::Field(name.to_owned()),
                    // The item before the last needs as many items as the second.
                    (None, Ok(at)) => {
                        ContextPathSegment::Index(usize::try_from(if at < 0 { -(at + 1) } else { at }).ok()?)
                    }
                    _ => return None,
                };
                Some(self.context_path_of_expression(&get.expr)?.with_segment(step))
            }
            Expr::Filter(filter) => {
                let step = match filter.name {
                    "first" => ContextPathSegment::Index(0),
                    "last" => ContextPathSegment::EachItem,
                    _ => return None,
                };
                Some(self.context_path_of_expression(filter.expr.as_ref()?)?.with_segment(step))
            }
            _ => None,
        }
    }

    /// The context path of the items of a list, if they are read unchanged.
    fn list_item_path(&self, list: &Expr<'a>) -> Option<ContextPath> {
        let Expr::Filter(filter) = list else {
            return Some(self.context_path_of_expression(list)?.with_segment(ContextPathSegment::EachItem));
        };
        let items = self.list_item_path(filter.expr.as_ref()?)?;
        match filter.name {
            "list" | "reject" | "rejectattr" | "reverse" | "select" | "selectattr" | "sort" | "unique" => {
                Some(items)
            }
            "map" => Some(extend_context_path(items, &filter_attribute_name(filter)?)),
            _ => None,
        }
    }
}

fn extend_context_path(base: ContextPath, path: &str) -> ContextPath {
    path.split('.').fold(base, |base, part| base.with_segment(ContextPathSegment::Field(part.to_owned())))
}

/// The field name that a filter uses, if there has to be one.
fn filter_attribute_name(filter: &Filter<'_>) -> Option<String> {
    if matches!(filter.name, "selectattr" | "rejectattr") {
        return literal_text_argument(&filter.args, 0);
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
fn expected_type_of_operand(operator: BinOpKind, other_operand: &Expr<'_>) -> ExpectedType {
    match operator {
        BinOpKind::Sub
        | BinOpKind::Mul
        | BinOpKind::Div
        | BinOpKind::FloorDiv
        | BinOpKind::Rem
        | BinOpKind::Pow => ExpectedType::Number,
        BinOpKind::Add => match other_operand.as_const() {
            Some(value) if value.is_number() => ExpectedType::Number,
            Some(value) if value.as_str().is_some() => ExpectedType::Text,
            _ => ExpectedType::Anything,
        },
        _ => ExpectedType::Anything,
    }
}
