//! Limits on the values that a workflow creates. A step that adds a text to itself in a loop doubles it each
//! round: without a limit, forty rounds exceed the memory of any machine.

use serde_json::Value;
use trackway_domain::{BlockReason, Object, is_json_too_deep};

use super::block_reasons;

/// The context of a run, written as JSON. Every node keeps a whole one.
/// Limit (Definitions): context of a run as JSON.
pub(super) const CONTEXT_BYTES_MAX: usize = 256 * 1024;

/// What an answer adds to documents by `emit`, or a map's results: as much as a step's output.
/// Limit (Definitions): documents that one answer adds to, or results of a map.
pub(super) const GATHERED_BYTES_MAX: usize = 1024 * 1024;

/// A value to be kept under a name.
pub(super) fn check_value_size(name: &str, value: &Value) -> Result<(), BlockReason> {
    match remaining_size_budget(CONTEXT_BYTES_MAX, value) {
        Some(_) if !is_json_too_deep(value) => Ok(()),
        _ => Err(block_reasons::value_too_large_block(&format!("`{name}`"))),
    }
}

/// A whole context.
pub(super) fn check_context_size(context: &Object) -> Result<(), BlockReason> {
    let mut budget = Some(CONTEXT_BYTES_MAX);
    for (name, value) in context {
        budget = budget.and_then(|left| left.checked_sub(name.len() + 4));
        budget = budget
            .filter(|_| !is_json_too_deep(value))
            .and_then(|budget| remaining_size_budget(budget, value));
    }
    budget.map(|_| ()).ok_or_else(|| block_reasons::value_too_large_block("the context"))
}

/// Values that are collected during the walk.
pub(super) fn check_gathered_size<'a>(
    what: &str,
    values: impl IntoIterator<Item = &'a Value>,
) -> Result<(), BlockReason> {
    let mut budget = Some(GATHERED_BYTES_MAX);
    for value in values {
        budget = budget.and_then(|budget| remaining_size_budget(budget, value));
    }
    budget.map(|_| ()).ok_or_else(|| block_reasons::value_too_large_block(what))
}

/// What is left of a budget after a value; none when it is used up. It stops counting there.
fn remaining_size_budget(budget: usize, value: &Value) -> Option<usize> {
    // Commas, quotes and brackets; escapes are not counted.
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => budget.checked_sub(8),
        Value::String(text) => budget.checked_sub(text.len() + 3),
        Value::Array(items) => items.iter().try_fold(budget.checked_sub(2)?, remaining_size_budget),
        Value::Object(entries) => entries.iter().try_fold(budget.checked_sub(2)?, |budget, (name, entry)| {
            remaining_size_budget(budget.checked_sub(name.len() + 4)?, entry)
        }),
    }
}
