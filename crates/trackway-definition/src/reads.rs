//! What a template or an expression reads from the context, and what to send where it comes to nothing.
//!
//! The syntax says where a value is looked into; what else it has to be is found by trying.

use serde_json::{Value, json};
use trackway_domain::Object;

use crate::lack::{Lack, Like, find, put, root};
use crate::shape::{Place, Shape};

/// More at once help nobody; the next attempt names the rest.
/// Limit (Definitions): missing facts that are named at once.
const NAMES_MAX: usize = 16;

/// Values that are tried one by one. What reads more is not worth the time.
/// Limit (Definitions): facts whose values are tried one by one.
const TRIED_MAX: usize = 8;

/// Every name that is read, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reads {
    names: Vec<(String, Shape)>,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    /// For people.
    pub(crate) reason: String,
    /// The path that is said not to be set, where the reason says it.
    pub(crate) unset: Option<String>,
}

/// What comes of a context.
pub(crate) type Tried<'t> = &'t dyn Fn(&Object) -> Result<(), Failure>;

/// Values of every kind, the most usual first.
fn kinds() -> [Value; 8] {
    [json!("…"), json!(1), json!(true), json!(["…"]), json!([1]), json!(1.5), json!([]), json!({})]
}

impl Reads {
    /// The shape of what is read at a place.
    pub(crate) fn at(&mut self, Place { name, steps }: &Place) -> &mut Shape {
        let place = self.names.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.names.push((name.clone(), Shape::default()));
            self.names.len() - 1
        });
        self.names[place].1.at(steps)
    }

    /// Takes out what is read of one name.
    pub(crate) fn take(&mut self, name: &str) -> Option<Shape> {
        let place = self.names.iter().position(|(known, _)| known == name)?;
        Some(self.names.remove(place).1)
    }

    /// Adds what something else reads.
    pub(crate) fn merge(&mut self, other: Self) {
        for (name, shape) in other.names {
            self.at(&Place::of(&name)).merge(shape);
        }
    }

    pub(crate) fn first(&self) -> Option<String> {
        self.paths().into_iter().next().map(|(path, _)| path)
    }

    /// What is read of a context.
    pub(crate) fn of(&self, context: &Object) -> Object {
        let there = self.names.iter().filter_map(|(name, _)| context.get_key_value(name));
        there.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// What to send for a failure over a context, where that can be found.
    pub(crate) fn lack(
        mut self,
        failure: &Failure,
        context: &Object,
        tried: Tried<'_>,
    ) -> Option<Lack> {
        self.settle(context, tried);
        self.missing(failure, context, tried).or_else(|| self.misfit(failure, context, tried))
    }

    /// The names that are not set, as far as one after the other is come to once an example stands under
    /// those before.
    fn missing(&self, failure: &Failure, context: &Object, tried: Tried<'_>) -> Option<Lack> {
        let mut trial = context.clone();
        let mut failure = failure.clone();
        let mut found: Vec<(String, Like)> = Vec::new();
        while found.len() < NAMES_MAX
            && let Some((name, shape)) = self.next_missing(&failure, &trial, tried)
        {
            set(&mut trial, &name, shape.example());
            found.push((name, Like::Shaped(Box::new(shape.clone())).plain()));
            match tried(&trial) {
                Ok(()) => break,
                Err(next) => failure = next,
            }
        }
        let mut found = found.into_iter();
        let (name, like) = found.next()?;
        Some(Lack::Missing { name, like, others: found.collect() })
    }

    /// The name to set first: the one that the failure speaks of, or else one that makes a difference.
    fn next_missing(
        &self,
        failure: &Failure,
        context: &Object,
        tried: Tried<'_>,
    ) -> Option<(String, &Shape)> {
        let unset = self.unset(context);
        let named = failure.unset.as_ref().and_then(|named| {
            let above = |path: &str| {
                named == path || named.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
            };
            unset.iter().find(|(path, _)| above(path))
        });
        let matters = |(path, shape): &&(String, &Shape)| {
            let mut trial = context.clone();
            set(&mut trial, path, shape.example());
            tried(&trial).as_ref().err() != Some(failure)
        };
        let all = || {
            let whole = self.completed(context);
            unset.first().filter(|_| tried(&whole).is_ok())
        };
        named
            .or_else(|| unset.iter().take(NAMES_MAX).find(matters))
            .or_else(all)
            .map(|(path, shape)| (path.clone(), *shape))
    }

    /// What is read and not there: a name, or a part of a value.
    fn unset(&self, context: &Object) -> Vec<(String, &Shape)> {
        let mut found = Vec::new();
        for (name, shape) in &self.names {
            match context.get(name) {
                Some(value) => shape.unset(name, value, &mut found),
                None => found.push((name.clone(), shape)),
            }
        }
        found
    }

    fn completed(&self, context: &Object) -> Object {
        let mut whole = context.clone();
        for (path, shape) in self.unset(context) {
            set(&mut whole, &path, shape.example());
        }
        whole
    }

    /// A name whose value is of no use, with one that would do. Where several would have to be changed,
    /// it is the first of them.
    fn misfit(&self, failure: &Failure, context: &Object, tried: Tried<'_>) -> Option<Lack> {
        let wrong = |path: &str, example: Value, shape: &Shape| {
            let got = find(context, path).or_else(|| context.get(root(path)));
            Lack::Wrong {
                reason: failure.reason.clone(),
                got: got.cloned(),
                name: Some(path.to_owned()),
                like: Like::of(example, shape),
            }
        };
        let whole = self.completed(context);
        let paths = self.paths();
        for (path, shape) in paths.iter().take(TRIED_MAX) {
            let mended = find(context, path).map(|there| shape.mended(there));
            let own = mended.into_iter().chain([shape.example()]);
            let others = kinds().into_iter().filter(|_| shape.is_leaf());
            for value in own.chain(others) {
                let mut trial = whole.clone();
                set(&mut trial, path, value.clone());
                if tried(&trial).is_ok() {
                    return Some(wrong(path, value, shape));
                }
            }
        }
        self.several(context, tried).map(|(path, value, shape)| wrong(&path, value, shape))
    }

    /// The first of several values that have to be changed together.
    fn several(&self, context: &Object, tried: Tried<'_>) -> Option<(String, Value, &Shape)> {
        let paths: Vec<_> = self.paths().into_iter().take(TRIED_MAX).collect();
        let works = |changes: &[(String, Value, &Shape)]| {
            let mut trial = self.completed(context);
            changes.iter().for_each(|(path, value, _)| set(&mut trial, path, value.clone()));
            tried(&trial).is_ok()
        };
        for kind in kinds() {
            let open = |shape: &Shape| shape.is_leaf() && shape.like == Like::Anything;
            let value = |shape: &Shape| if open(shape) { kind.clone() } else { shape.example() };
            let each = paths.iter().map(|(path, shape)| (path.clone(), value(shape), *shape));
            let mut changes: Vec<_> = each.collect();
            if works(&changes) {
                // What need not be changed is left as it stands.
                for (path, _) in &paths {
                    let fewer: Vec<_> =
                        changes.iter().filter(|(other, ..)| other != path).cloned().collect();
                    if works(&fewer) {
                        changes = fewer;
                    }
                }
                return changes.into_iter().next();
            }
        }
        None
    }

    pub(crate) fn paths(&self) -> Vec<(String, &Shape)> {
        let mut found = Vec::new();
        self.names.iter().for_each(|(name, shape)| shape.paths(name, &mut found));
        found
    }

    /// Finds out by trying what the values have to be that the syntax says nothing of: first something
    /// with which there is a value at all, then whether anything else would do as well.
    fn settle(&mut self, context: &Object, tried: Tried<'_>) {
        let open = self.open().len();
        let works = |reads: &Self| tried(&reads.completed(context)).is_ok();
        if !works(self) {
            let with = |which: &dyn Fn(usize) -> bool, like: &Like| {
                let mut reads = self.clone();
                let open = reads.open().into_iter().enumerate();
                open.filter(|(place, _)| which(*place)).for_each(|(_, open)| *open = like.clone());
                works(&reads).then_some(reads)
            };
            let likes: Vec<Like> = kinds().into_iter().map(Like::Example).collect();
            let one = |like: &Like| {
                (0..open.min(TRIED_MAX)).find_map(|place| with(&|other| other == place, like))
            };
            let found = likes.iter().find_map(|like| one(like).or_else(|| with(&|_| true, like)));
            let Some(found) = found else { return };
            *self = found;
        }
        let mut narrow = Vec::new();
        for place in 0..self.open().len().min(TRIED_MAX) {
            let fails = kinds().into_iter().chain([Value::Null]).any(|kind| {
                let mut reads = self.clone();
                *reads.open()[place] = Like::Example(kind);
                !works(&reads)
            });
            narrow.push(fails);
        }
        let open = self.open().into_iter().zip(narrow);
        open.filter(|(_, narrow)| *narrow).for_each(|(open, _)| *open = Like::Text);
    }

    fn open(&mut self) -> Vec<&mut Like> {
        self.names.iter_mut().flat_map(|(_, shape)| shape.open()).collect()
    }
}

fn set(context: &mut Object, path: &str, value: Value) {
    let mut whole = Value::Object(std::mem::take(context));
    put(&mut whole, path, value);
    if let Value::Object(whole) = whole {
        *context = whole;
    }
}

#[cfg(test)]
mod tests;
