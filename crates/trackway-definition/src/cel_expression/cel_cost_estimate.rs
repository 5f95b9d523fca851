//! An upper bound of the work of an expression, computed before it runs.
//!
//! CEL has no loops, but its macros iterate over lists, nested and in sequence, and each can make its items
//! longer. A few hundred bytes of expression could run for hours or fill the memory. The values are known, so
//! one pass over the expression with sizes instead of values gives an upper bound.

use cel::IdedExpr;
use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use serde_json::Value;
use trackway_domain::Object;

use super::CONTEXT_NAME;

/// Steps of evaluation; a million take a few tenths of a second.
/// Limit (Definitions): evaluation steps of one expression.
const WORK_MAX: f64 = 1_000_000.0;

/// Bytes of an intermediate value of an expression.
/// Limit (Definitions): bytes of a value that an expression makes.
const WEIGHT_MAX: f64 = 4.0 * 1024.0 * 1024.0;

/// Evaluation uses the thread's stack; a debug build takes tens of KiB a level.
/// Limit (Definitions): depth of an expression.
const DEPTH_MAX: usize = 24;

/// The extra cost of a step for each byte that it reads: comparing is quick.
const WORK_PER_BYTE: f64 = 1.0 / 64.0;

/// Refuses an expression that is nested too deep to be evaluated safely.
pub(super) fn check_expression_depth(expression: &IdedExpr) -> Result<(), String> {
    let mut level = vec![expression];
    for _ in 0..DEPTH_MAX {
        if level.is_empty() {
            return Ok(());
        }
        level = level.into_iter().flat_map(sub_expressions).collect();
    }
    Err(format!("An expression is nested at most {DEPTH_MAX} levels deep; `a + b + c` counts as two."))
}

/// Refuses an expression that would take too long, or too much memory, over this context.
pub(super) fn check_expression_cost(expression: &IdedExpr, context: &Object) -> Result<(), String> {
    let mut estimate = ExpressionCostEstimate { context, scope: Vec::new(), work: 0.0, heaviest: 0.0 };
    estimate.estimate_size_and_work(expression, 1.0);
    if estimate.work > WORK_MAX || estimate.heaviest > WEIGHT_MAX {
        return Err("The expression is too much work: it walks over too many items.".to_owned());
    }
    Ok(())
}

/// An upper bound of a value's size.
#[derive(Clone, Copy, Default)]
struct ValueSizeEstimate<'a> {
    /// The value itself, if it comes directly from the context.
    known: Option<&'a Value>,
    weight: f64,
    /// How many items or fields it has.
    items: f64,
    /// Weight of its heaviest item.
    item: f64,
    /// The largest number of items of anything inside it.
    inner: f64,
}

impl<'a> ValueSizeEstimate<'a> {
    fn size_of_value(value: &'a Value) -> Self {
        let items: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(object) => object.values().collect(),
            Value::String(text) => {
                return Self { weight: 8.0 + text.len() as f64, ..Self::default() };
            }
            _ => return Self { weight: 8.0, ..Self::default() },
        };
        let names: usize = value.as_object().map_or(0, |fields| fields.keys().map(String::len).sum());
        let whole = Self::size_of_container(items.into_iter().map(Self::size_of_value));
        Self { known: Some(value), weight: whole.weight + names as f64, ..whole }
    }

    /// The size of a container of these parts.
    fn size_of_container(parts: impl Iterator<Item = Self>) -> Self {
        let start = Self { weight: 8.0, ..Self::default() };
        parts.fold(start, |all, part| Self {
            known: None,
            weight: all.weight + part.weight,
            items: all.items + 1.0,
            item: all.item.max(part.weight),
            inner: all.inner.max(part.inner).max(part.items),
        })
    }

    /// The size of any of its items.
    fn size_of_any_item(self) -> Self {
        Self { known: None, weight: self.item, items: self.inner, item: self.item, inner: self.inner }
    }

    /// The size of both joined.
    fn size_of_concatenation(self, other: Self) -> Self {
        Self {
            known: None,
            weight: self.weight + other.weight,
            items: self.items + other.items,
            item: self.item.max(other.item),
            inner: self.inner.max(other.inner),
        }
    }

    fn size_repeated(self, times: f64) -> Self {
        Self { known: None, weight: self.weight * times, items: self.items * times, ..self }
    }
}

struct ExpressionCostEstimate<'a> {
    context: &'a Object,
    scope: Vec<(&'a str, ValueSizeEstimate<'a>)>,
    work: f64,
    heaviest: f64,
}

impl<'a> ExpressionCostEstimate<'a> {
    /// The size of an expression's value, with the work of evaluating it this many times.
    fn estimate_size_and_work<'e: 'a>(
        &mut self,
        expression: &'e IdedExpr,
        times: f64,
    ) -> ValueSizeEstimate<'a> {
        self.work += times;
        let size = match &expression.expr {
            Expr::Unspecified => ValueSizeEstimate::default(),
            Expr::Ident(name) => self.size_of_variable(name),
            Expr::Literal(LiteralValue::String(text)) => {
                ValueSizeEstimate { weight: 8.0 + text.inner().len() as f64, ..ValueSizeEstimate::default() }
            }
            Expr::Literal(_) => ValueSizeEstimate { weight: 8.0, ..ValueSizeEstimate::default() },
            Expr::Select(select) => {
                let operand = self.estimate_size_and_work(&select.operand, times);
                match operand.known.and_then(|value| value.get(select.field.as_str())) {
                    Some(value) => ValueSizeEstimate::size_of_value(value),
                    None => operand.size_of_any_item(),
                }
            }
            Expr::Comprehension(walk) => self.estimate_comprehension(walk, times),
            Expr::Call(call) if call.func_name == operators::INDEX => {
                let sizes: Vec<ValueSizeEstimate<'_>> = sub_expressions(expression)
                    .map(|part| self.estimate_size_and_work(part, times))
                    .collect();
                sizes.first().map_or_else(ValueSizeEstimate::default, |operand| operand.size_of_any_item())
            }
            Expr::Call(_) => {
                let sizes: Vec<ValueSizeEstimate<'_>> = sub_expressions(expression)
                    .map(|part| self.estimate_size_and_work(part, times))
                    .collect();
                let all = sizes
                    .into_iter()
                    .fold(ValueSizeEstimate::default(), ValueSizeEstimate::size_of_concatenation);
                self.work += times * all.weight * WORK_PER_BYTE;
                all
            }
            Expr::List(_) | Expr::Map(_) | Expr::Struct(_) => {
                let sizes: Vec<ValueSizeEstimate<'_>> = sub_expressions(expression)
                    .map(|part| self.estimate_size_and_work(part, times))
                    .collect();
                ValueSizeEstimate::size_of_container(sizes.into_iter())
            }
        };
        self.heaviest = self.heaviest.max(size.weight);
        size
    }

    fn size_of_variable(&self, name: &str) -> ValueSizeEstimate<'a> {
        if let Some((_, size)) = self.scope.iter().rev().find(|(bound, _)| *bound == name) {
            return *size;
        }
        match self.context.get(name) {
            _ if name == CONTEXT_NAME => ValueSizeEstimate::size_of_container(
                self.context.values().map(ValueSizeEstimate::size_of_value),
            ),
            Some(value) => ValueSizeEstimate::size_of_value(value),
            None => ValueSizeEstimate::default(),
        }
    }

    /// All macros do one thing per item and add the outcome to a result.
    fn estimate_comprehension<'e: 'a>(
        &mut self,
        comprehension: &'e ComprehensionExpr,
        times: f64,
    ) -> ValueSizeEstimate<'a> {
        let range = self.estimate_size_and_work(&comprehension.iter_range, times);
        let start = self.estimate_size_and_work(&comprehension.accu_init, times);
        let before = self.scope.len();
        let rounds = times * range.items;
        self.scope.push((&comprehension.iter_var, range.size_of_any_item()));
        if let Some(second) = &comprehension.iter_var2 {
            self.scope.push((second, range.size_of_any_item()));
        }
        self.scope.push((&comprehension.accu_var, ValueSizeEstimate::default()));
        self.estimate_size_and_work(&comprehension.loop_cond, rounds);
        let added = self.estimate_size_and_work(&comprehension.loop_step, rounds);
        self.scope.truncate(before);
        self.scope
            .push((&comprehension.accu_var, start.size_of_concatenation(added.size_repeated(range.items))));
        let result = self.estimate_size_and_work(&comprehension.result, times);
        self.scope.truncate(before);
        result
    }
}

/// The direct parts of an expression.
pub(super) fn sub_expressions(expression: &IdedExpr) -> impl Iterator<Item = &IdedExpr> {
    let parts: Vec<&IdedExpr> = match &expression.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => Vec::new(),
        Expr::Select(select) => vec![&select.operand],
        Expr::Call(call) => call.target.iter().map(AsRef::as_ref).chain(&call.args).collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(|entry| entry_sub_expressions(&entry.expr)).collect(),
        Expr::Struct(fields) => {
            fields.entries.iter().flat_map(|entry| entry_sub_expressions(&entry.expr)).collect()
        }
        Expr::Comprehension(walk) => {
            vec![&walk.iter_range, &walk.accu_init, &walk.loop_cond, &walk.loop_step, &walk.result]
        }
    };
    parts.into_iter()
}

fn entry_sub_expressions(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::StructField(field) => vec![&field.value],
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
    }
}
