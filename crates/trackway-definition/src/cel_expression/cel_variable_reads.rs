//! What an expression reads from the context, and which type it expects.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use serde_json::{Value, json};

use super::CONTEXT_NAME;
use super::cel_cost_estimate::sub_expressions;
use crate::context_error::ExpectedType;
use crate::context_reads::ContextReads;
use crate::value_shape::{ContextPath, ContextPathSegment, SOME_NAME};

pub(super) fn collect_expression_reads(expression: &IdedExpr) -> ContextReads {
    let mut walk = ExpressionReadCollector::default();
    walk.visit_expression_value(expression, ExpectedType::Anything);
    walk.reads
}

/// The path of names, if the expression is nothing else: `a.b["c"]`.
pub(super) fn expression_as_name_path(expression: &IdedExpr) -> Option<String> {
    let path = ExpressionReadCollector::default()
        .context_path_of_expression(expression)
        .filter(|path| !path.name.is_empty())?;
    let steps = path.segments.iter().map(|step| match step {
        ContextPathSegment::Field(name) => Some(name.clone()),
        ContextPathSegment::Index(at) => Some(at.to_string()),
        ContextPathSegment::EachItem | ContextPathSegment::AnyField => None,
    });
    let steps: Option<Vec<String>> = std::iter::once(Some(path.name.clone())).chain(steps).collect();
    steps.map(|steps| steps.join("."))
}

#[derive(Default)]
struct ExpressionReadCollector<'e> {
    reads: ContextReads,
    /// Variables of macros, and the context path that each is bound to.
    scope: Vec<(&'e str, Option<ContextPath>)>,
}

impl<'e> ExpressionReadCollector<'e> {
    fn visit_expression_value(&mut self, expression: &'e IdedExpr, expected: ExpectedType) {
        if let Some(path) = self.context_path_of_expression(expression) {
            self.add_context_read(&path, expected);
            return;
        }
        match &expression.expr {
            // `has(a.b)` tests `b`; `a` has to be set.
            Expr::Select(select) if select.test => {
                self.visit_expression_value(&select.operand, ExpectedType::Example(json!({})));
            }
            Expr::Comprehension(walk) => {
                let items = self
                    .context_path_of_expression(&walk.iter_range)
                    .map(|list| list.with_segment(ContextPathSegment::EachItem));
                match &items {
                    Some(items) => self.add_context_read(items, ExpectedType::Anything),
                    None => self.visit_expression_value(&walk.iter_range, ExpectedType::List),
                }
                let before = self.scope.len();
                self.scope.push((&walk.iter_var, items));
                self.scope.push((&walk.accu_var, None));
                self.scope.extend(walk.iter_var2.as_deref().map(|second| (second, None)));
                self.visit_expression_value(&walk.loop_step, ExpectedType::Anything);
                self.scope.truncate(before);
            }
            // Only the context decides which of its values is read.
            Expr::Call(call) if call.func_name == operators::INDEX => {
                if let [operand, index] = call.args.as_slice() {
                    match self.context_path_of_expression(operand) {
                        Some(path) => self.add_context_read(
                            &path.with_segment(ContextPathSegment::AnyField),
                            ExpectedType::Anything,
                        ),
                        None => self.visit_expression_value(operand, ExpectedType::Anything),
                    }
                    self.visit_expression_value(index, ExpectedType::Example(json!(SOME_NAME)));
                }
            }
            Expr::Call(call) => {
                for part in sub_expressions(expression) {
                    self.visit_expression_value(part, expected_type_of_call_part(call, part));
                }
            }
            _ => sub_expressions(expression)
                .for_each(|part| self.visit_expression_value(part, ExpectedType::Anything)),
        }
    }

    fn add_context_read(&mut self, path: &ContextPath, expected: ExpectedType) {
        // The whole context always exists.
        if !path.name.is_empty() {
            self.reads.shape_at_path_mut(path).expect_type_if_unset(expected);
        }
    }

    /// The context path of a value that is read unchanged from there. The whole context has no name.
    fn context_path_of_expression(&self, expression: &IdedExpr) -> Option<ContextPath> {
        match &expression.expr {
            Expr::Ident(name) => {
                let bound = self.scope.iter().rev().find(|(bound, _)| bound == name);
                match (bound, name.trim_start_matches('.')) {
                    (Some((_, path)), _) => path.clone(),
                    (None, CONTEXT_NAME) => Some(ContextPath::from_context_name("")),
                    (None, name) => (!name.starts_with('@')).then(|| ContextPath::from_context_name(name)),
                }
            }
            Expr::Select(select) if !select.test => self.child_path(&select.operand, &json!(select.field)),
            Expr::Call(call) if call.func_name == operators::INDEX => {
                let [operand, index] = call.args.as_slice() else { return None };
                self.child_path(operand, &literal_value(index)?)
            }
            Expr::Call(call) if call.func_name == super::cel_key_order::ORDERED => {
                self.context_path_of_expression(call.args.first()?)
            }
            _ => None,
        }
    }

    fn child_path(&self, operand: &IdedExpr, key: &Value) -> Option<ContextPath> {
        let path = self.context_path_of_expression(operand)?;
        match (key.as_str(), key.as_u64()) {
            (Some(name), _) if path.name.is_empty() => Some(ContextPath::from_context_name(name)),
            (Some(name), _) => Some(path.with_segment(ContextPathSegment::Field(name.to_owned()))),
            (None, Some(at)) => Some(path.with_segment(ContextPathSegment::Index(usize::try_from(at).ok()?))),
            (None, None) => None,
        }
    }
}

/// The type that a call expects of one of its parts, if the syntax shows it.
fn expected_type_of_call_part(call: &CallExpr, part: &IdedExpr) -> ExpectedType {
    let other = call.args.iter().find(|other| other.id != part.id);
    let known = other.and_then(literal_value);
    let is_target = call.target.as_ref().is_some_and(|target| target.id == part.id);
    match (call.func_name.as_str(), known) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, _) => ExpectedType::Boolean,
        (operators::CONDITIONAL, _) if call.args.first().is_some_and(|first| first.id == part.id) => {
            ExpectedType::Boolean
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
        ) => ExpectedType::Example(known),
        (operators::IN, Some(known)) => ExpectedType::Example(json!([known])),
        (operators::IN, None) if call.args.first().is_some_and(|first| first.id == part.id) => {
            first_literal_item(other).map_or(ExpectedType::Anything, ExpectedType::Example)
        }
        ("@ordered" | "size", _) => ExpectedType::List,
        ("startsWith" | "endsWith" | "contains" | "matches", _) if is_target => ExpectedType::Text,
        _ => ExpectedType::Anything,
    }
}

fn first_literal_item(list: Option<&IdedExpr>) -> Option<Value> {
    match &list?.expr {
        Expr::List(list) => literal_value(list.elements.first()?),
        _ => None,
    }
}

fn literal_value(expression: &IdedExpr) -> Option<Value> {
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
