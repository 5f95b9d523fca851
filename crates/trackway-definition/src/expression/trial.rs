//! Which value would do: found by trying some, since only the expression knows what it does with them.

use cel::IdedExpr;
use serde_json::{Value, json};
use trackway_domain::Object;

use super::{Fits, WHOLE, bound, convert, explain::Used, resolve};
use crate::lack::{Like, find, put, root};

/// Names that are tried for having the wrong value. An expression that reads more is not worth the time.
const NAMES_MAX: usize = 8;

/// Values of every kind, the most usual first.
fn kinds() -> [Value; 8] {
    [json!(1), json!("…"), json!(true), json!(["…"]), json!([1]), json!(1.5), json!([]), json!({})]
}

/// What a name that is not set would have to be like, once the others that are not set are there too.
pub(super) fn like(
    expression: &IdedExpr,
    context: &Object,
    used: &[Used],
    name: &str,
    does: Fits<'_>,
) -> Like {
    let text = Like::Anything.example();
    let works = |kind: &Value| {
        let unset = |used: &&Used| find(context, &used.path).is_none();
        let changes = used.iter().filter(unset).map(|used| {
            let value =
                if used.like == Like::Anything { kind.clone() } else { used.like.example() };
            (used.path.as_str(), value)
        });
        let trial = with(expression, context, used, changes.chain([(name, kind.clone())]));
        fits(expression, &trial, does)
    };
    if works(&text) {
        return Like::Anything;
    }
    kinds().into_iter().find(works).map_or(Like::Anything, Like::Example)
}

/// A name and another value of it with which the expression has a value that fits. Where several would
/// have to be changed, it is the first of them.
pub(super) fn mend(
    expression: &IdedExpr,
    context: &Object,
    used: &[Used],
    does: Fits<'_>,
) -> Option<(String, Like)> {
    let mut names: Vec<&Used> = Vec::new();
    for one in used {
        if names.len() < NAMES_MAX && !names.iter().any(|name| name.path == one.path) {
            names.push(one);
        }
    }
    let works = |changes: &[(&str, Value)]| {
        fits(expression, &with(expression, context, used, changes.iter().cloned()), does)
    };
    for name in &names {
        for value in [name.taken_for(&json!(1))].into_iter().chain(kinds()) {
            if works(&[(name.path.as_str(), value.clone())]) {
                return Some((name.path.clone(), Like::Example(value)));
            }
        }
    }
    for kind in kinds() {
        let mut changes: Vec<(&str, Value)> =
            names.iter().map(|name| (name.path.as_str(), name.taken_for(&kind))).collect();
        if works(&changes) {
            // What need not be changed is left as it stands.
            for name in &names {
                let fewer: Vec<_> =
                    changes.iter().filter(|(path, _)| *path != name.path).cloned().collect();
                if works(&fewer) {
                    changes = fewer;
                }
            }
            let (path, value) = changes.into_iter().next()?;
            return Some((path.to_owned(), Like::Example(value)));
        }
    }
    None
}

impl Used {
    /// A value of the kind that the expression takes the name for, where that can be seen.
    fn taken_for(&self, otherwise: &Value) -> Value {
        if self.like == Like::Anything { otherwise.clone() } else { self.like.example() }
    }
}

/// What an expression reads of a context, with some values changed.
fn with<'a>(
    expression: &IdedExpr,
    context: &Object,
    used: &[Used],
    changes: impl Iterator<Item = (&'a str, Value)>,
) -> Object {
    let all = expression.references().variables().contains(&WHOLE);
    let reads = |name: &str| all || used.iter().any(|used| root(&used.path) == name);
    let read = context.iter().filter(|(name, _)| reads(name));
    let read = read.map(|(name, value)| (name.clone(), value.clone()));
    let mut trial = Value::Object(read.collect());
    for (path, value) in changes {
        put(&mut trial, path, value);
    }
    match trial {
        Value::Object(trial) => trial,
        _ => Object::new(),
    }
}

fn fits(expression: &IdedExpr, trial: &Object, does: Fits<'_>) -> bool {
    bound::check(expression, trial).is_ok()
        && resolve(expression, trial)
            .ok()
            .and_then(|value| convert::json(&value).ok())
            .is_some_and(|value| does(&value))
}
