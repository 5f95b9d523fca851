//! Which values would do: found by trying some, since only the template knows what it does with them.

use minijinja::Template;
use serde_json::{Value, json};
use trackway_domain::Object;

use super::fill;
use crate::lack::{Lack, Like, find, grown};

/// Names that are tried for having the wrong value. A prompt that shows more is not worth the time.
const NAMES_MAX: usize = 8;

/// Values of every kind, the most usual first.
fn kinds() -> [Value; 4] {
    [json!("…"), json!(1), json!(["…"]), json!(true)]
}

/// What a name that is not set would have to be like for the template to be filled in, once the others
/// that are not set are there too.
pub(super) fn like(
    template: &Template<'_, '_>,
    context: &Object,
    known: &[String],
    name: &str,
) -> Like {
    let beneath = known.iter().filter_map(|known| known.strip_prefix(name)?.strip_prefix('.'));
    let beneath: Vec<&str> = beneath.collect();
    let shaped =
        |kind: Value| grown(beneath.iter().map(|path| (*path, kind.clone()))).unwrap_or(kind);
    for kind in kinds() {
        let value = shaped(kind);
        for others in kinds() {
            let mut trial = shown(context, known);
            set(&mut trial, name, value.clone());
            complete(&mut trial, known, &others);
            if fill(template, &trial).is_ok() {
                return of_kind(value);
            }
        }
    }
    of_kind(shaped(kinds()[0].clone()))
}

/// What a value that does is like. Where a text does, most other values would as well.
fn of_kind(value: Value) -> Like {
    match value {
        Value::String(_) => Like::Anything,
        Value::Number(_) => Like::Number,
        Value::Array(_) => Like::List,
        Value::Bool(_) => Like::Truth,
        value => Like::Example(value),
    }
}

/// The name whose value is of no use, where another value under it would do.
pub(super) fn misfit(
    template: &Template<'_, '_>,
    context: &Object,
    known: &[String],
    reason: &str,
) -> Option<Lack> {
    let set_names = known.iter().filter_map(|name| Some((name, find(context, name)?)));
    for (name, got) in set_names.take(NAMES_MAX) {
        for kind in kinds() {
            for others in &kinds()[..2] {
                let mut trial = shown(context, known);
                set(&mut trial, name, kind.clone());
                complete(&mut trial, known, others);
                if fill(template, &trial).is_ok() {
                    return Some(Lack::misfit(name, got, wanted(kind), reason));
                }
            }
        }
    }
    None
}

/// The same for a value that stands instead of one of no use: a text is meant where a text does.
fn wanted(value: Value) -> Like {
    match value {
        Value::String(_) => Like::Text,
        value => of_kind(value),
    }
}

/// What the template reads of a context.
pub(super) fn shown(context: &Object, known: &[String]) -> Object {
    let roots = known.iter().filter_map(|name| name.split('.').next());
    roots.filter_map(|root| Some((root.to_owned(), context.get(root)?.clone()))).collect()
}

/// Gives every name that is not set this value.
fn complete(trial: &mut Object, known: &[String], value: &Value) {
    for name in known {
        if find(trial, name).is_none() {
            set(trial, name, value.clone());
        }
    }
}

/// Puts a value under a dotted name, making objects on the way.
pub(super) fn set(object: &mut Object, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            object.insert(name.to_owned(), value);
        }
        Some((first, rest)) => {
            let place = object.entry(first.to_owned()).or_insert(Value::Null);
            if !place.is_object() {
                *place = json!({});
            }
            if let Value::Object(inner) = place {
                set(inner, rest, value);
            }
        }
    }
}
