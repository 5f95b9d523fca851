//! Iteration over an object follows the order of its names.
//!
//! CEL keeps objects in hash maps with a random seed. Without this, the same expression over the same context
//! would give its list in another order each time, and a replay would differ from the run.

use std::sync::Arc;

use cel::common::ast::{CallExpr, EntryExpr, Expr};
use cel::objects::Key;
use cel::{Context, IdedExpr, Value as Cel};

/// No expression can contain this name, so it shadows nothing.
pub(super) const ORDERED: &str = "@ordered";

/// Sorts the names of every object that a macro of the expression iterates over.
pub(super) fn insert_key_sorting(expression: &mut IdedExpr) {
    match &mut expression.expr {
        Expr::Comprehension(walk) => {
            let parts = [&mut walk.accu_init, &mut walk.loop_cond, &mut walk.loop_step];
            parts.into_iter().for_each(insert_key_sorting);
            insert_key_sorting(&mut walk.result);
            insert_key_sorting(&mut walk.iter_range);
            let range = std::mem::take(&mut walk.iter_range);
            let id = range.id;
            let call = CallExpr { func_name: ORDERED.to_owned(), target: None, args: vec![range] };
            walk.iter_range = IdedExpr { id, expr: Expr::Call(call) };
        }
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| insert_key_sorting(target));
            call.args.iter_mut().for_each(insert_key_sorting);
        }
        Expr::List(list) => list.elements.iter_mut().for_each(insert_key_sorting),
        Expr::Map(map) => {
            map.entries.iter_mut().for_each(|entry| insert_key_sorting_in_entry(&mut entry.expr))
        }
        Expr::Struct(fields) => {
            fields.entries.iter_mut().for_each(|entry| insert_key_sorting_in_entry(&mut entry.expr));
        }
        Expr::Select(select) => insert_key_sorting(&mut select.operand),
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
    }
}

fn insert_key_sorting_in_entry(entry: &mut EntryExpr) {
    match entry {
        EntryExpr::StructField(field) => insert_key_sorting(&mut field.value),
        EntryExpr::MapEntry(entry) => {
            insert_key_sorting(&mut entry.key);
            insert_key_sorting(&mut entry.value);
        }
    }
}

/// Declares the function that [`insert_key_sorting`] inserts.
pub(super) fn declare_key_sort_function(variables: &mut Context<'_, '_>) {
    // The only possible conflict is with a function of this name.
    let _ = variables.add_function(ORDERED, sorted_map_keys);
}

fn sorted_map_keys(range: Cel) -> Cel {
    let Cel::Map(map) = range else { return range };
    let mut keys: Vec<&Key> = map.map.keys().collect();
    keys.sort();
    let keys = keys.into_iter().map(|key| match key {
        Key::Int(int) => Cel::Int(*int),
        Key::Uint(uint) => Cel::UInt(*uint),
        Key::Bool(truth) => Cel::Bool(*truth),
        Key::String(text) => Cel::String(text.clone()),
    });
    Cel::List(Arc::new(keys.collect()))
}
