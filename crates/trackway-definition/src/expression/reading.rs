//! What an expression reads from the context, and what it takes it for.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use serde_json::{Value, json};

use super::WHOLE;
use super::bound::parts;
use crate::lack::Like;
use crate::reads::Reads;
use crate::shape::{Place, SOME_NAME, Step};

pub(super) fn reads(expression: &IdedExpr) -> Reads {
    let mut walk = Walk::default();
    walk.value(expression, Like::Anything);
    walk.reads
}

/// The path of names that an expression is, if it is nothing else: `a.b["c"]`.
pub(super) fn path(expression: &IdedExpr) -> Option<String> {
    let place = Walk::default().place(expression).filter(|place| !place.name.is_empty())?;
    let steps = place.steps.iter().map(|step| match step {
        Step::Field(name) => Some(name.clone()),
        Step::At(at) => Some(at.to_string()),
        Step::Each | Step::Any => None,
    });
    let steps: Option<Vec<String>> =
        std::iter::once(Some(place.name.clone())).chain(steps).collect();
    steps.map(|steps| steps.join("."))
}

#[derive(Default)]
struct Walk<'e> {
    reads: Reads,
    /// Names of macros, and where in the context what they stand for is.
    scope: Vec<(&'e str, Option<Place>)>,
}

impl<'e> Walk<'e> {
    fn value(&mut self, expression: &'e IdedExpr, like: Like) {
        if let Some(place) = self.place(expression) {
            self.read(&place, like);
            return;
        }
        match &expression.expr {
            // `has(a.b)` asks for `b`; `a` has to be there.
            Expr::Select(select) if select.test => {
                self.value(&select.operand, Like::Example(json!({})));
            }
            Expr::Comprehension(walk) => {
                let items = self.place(&walk.iter_range).map(|list| list.then(Step::Each));
                match &items {
                    Some(items) => self.read(items, Like::Anything),
                    None => self.value(&walk.iter_range, Like::List),
                }
                let before = self.scope.len();
                self.scope.push((&walk.iter_var, items));
                self.scope.push((&walk.accu_var, None));
                self.scope.extend(walk.iter_var2.as_deref().map(|second| (second, None)));
                self.value(&walk.loop_step, Like::Anything);
                self.scope.truncate(before);
            }
            // Which of its values is meant, only the context knows.
            Expr::Call(call) if call.func_name == operators::INDEX => {
                if let [operand, index] = call.args.as_slice() {
                    match self.place(operand) {
                        Some(place) => self.read(&place.then(Step::Any), Like::Anything),
                        None => self.value(operand, Like::Anything),
                    }
                    self.value(index, Like::Example(json!(SOME_NAME)));
                }
            }
            Expr::Call(call) => {
                for part in parts(expression) {
                    self.value(part, taken_for(call, part));
                }
            }
            _ => parts(expression).for_each(|part| self.value(part, Like::Anything)),
        }
    }

    fn read(&mut self, place: &Place, like: Like) {
        // The whole context is always there.
        if !place.name.is_empty() {
            self.reads.at(place).take_for(like);
        }
    }

    /// Where in the context a value stands, if it is read from there as it is. The whole context has no
    /// name.
    fn place(&self, expression: &IdedExpr) -> Option<Place> {
        match &expression.expr {
            Expr::Ident(name) => {
                let bound = self.scope.iter().rev().find(|(bound, _)| bound == name);
                match (bound, name.trim_start_matches('.')) {
                    (Some((_, place)), _) => place.clone(),
                    (None, WHOLE) => Some(Place::of("")),
                    (None, name) => (!name.starts_with('@')).then(|| Place::of(name)),
                }
            }
            Expr::Select(select) if !select.test => {
                self.inside(&select.operand, &json!(select.field))
            }
            Expr::Call(call) if call.func_name == operators::INDEX => {
                let [operand, index] = call.args.as_slice() else { return None };
                self.inside(operand, &literal(index)?)
            }
            Expr::Call(call) if call.func_name == super::ordered::ORDERED => {
                self.place(call.args.first()?)
            }
            _ => None,
        }
    }

    fn inside(&self, operand: &IdedExpr, key: &Value) -> Option<Place> {
        let place = self.place(operand)?;
        match (key.as_str(), key.as_u64()) {
            (Some(name), _) if place.name.is_empty() => Some(Place::of(name)),
            (Some(name), _) => Some(place.then(Step::Field(name.to_owned()))),
            (None, Some(at)) => Some(place.then(Step::At(usize::try_from(at).ok()?))),
            (None, None) => None,
        }
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
