//! Values that the walk takes from the context: lists, numbers, arguments.

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::{Block, Object};

use super::{Walker, bounds};
use crate::{
    expression::{Fits, evaluate, evaluate_for, unfit},
    facts,
    lack::{Lack, Like, find},
    model::{Amount, Source, Step},
};

impl Walker<'_> {
    /// The list that a loop or a map goes through.
    pub(super) fn list(&mut self, step: &Step, source: &Source) -> Result<Vec<Value>, Block> {
        let like = self.list_like(step, source);
        let wanted = Wanted { step: &step.id, source, what: "a list", like };
        self.look(|names| match wanted.from(names, &Value::is_array)? {
            Value::Array(items) => Ok(items),
            other => Err(wanted.wrong(&other, names, &Value::is_array)),
        })
    }

    /// What the list has to be like, by what the steps read of its items. It is only worked out where
    /// there is no list.
    fn list_like(&self, step: &Step, source: &Source) -> Like {
        let path = match source {
            Source::Name(path) => path,
            Source::Cel(_) => return Like::List,
        };
        if find(&self.context, path).is_some_and(Value::is_array) {
            return Like::List;
        }
        match facts::item_shape(step) {
            Some(shape) if !(shape.is_leaf() && shape.like == Like::Anything) => {
                Like::Shaped(Box::new(shape.listed()))
            }
            _ => Like::List,
        }
    }

    /// How many rounds a loop has.
    pub(super) fn amount(&mut self, step: &str, amount: &Amount) -> Result<u64, Block> {
        let source = match amount {
            Amount::Number(number) => return Ok(u64::from(*number)),
            Amount::From(source) => source,
        };
        let wanted = Wanted { step, source, what: "a whole number", like: Like::Count };
        let fits = |value: &Value| whole(value).is_some();
        self.look(|names| {
            let value = wanted.from(names, &fits)?;
            whole(&value).ok_or_else(|| wanted.wrong(&value, names, &fits))
        })
    }

    /// Values as they stand, where a text that begins with `=` is an expression.
    pub(crate) fn values(&mut self, values: &BTreeMap<String, Value>) -> Result<Object, Block> {
        let each = values.iter().map(|(name, value)| {
            let value = self.value(value)?;
            bounds::one(name, &value)?;
            Ok((name.clone(), value))
        });
        each.collect()
    }

    fn value(&mut self, value: &Value) -> Result<Value, Block> {
        match value {
            Value::String(text) => match text.strip_prefix('=') {
                Some(plain) if plain.starts_with('=') => Ok(Value::String(plain.to_owned())),
                Some(source) => self.look(|names| evaluate(source, names)),
                None => Ok(value.clone()),
            },
            Value::Array(items) => {
                let each = items.iter().map(|item| self.value(item));
                each.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            Value::Object(entries) => {
                let each =
                    entries.iter().map(|(name, entry)| Ok((name.clone(), self.value(entry)?)));
                each.collect::<Result<Object, _>>().map(Value::Object)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
        }
    }
}

/// A value that a step needs.
struct Wanted<'a> {
    step: &'a str,
    source: &'a Source,
    what: &'static str,
    like: Like,
}

impl Wanted<'_> {
    fn from(&self, context: &Object, fits: Fits<'_>) -> Result<Value, Lack> {
        match self.source.path() {
            Some(name) => match find(context, &name) {
                Some(value) => Ok(value.clone()),
                None => Err(Lack::missing(name).like(self.like.clone())),
            },
            None => evaluate_for(written(self.source), context, fits),
        }
    }

    fn wrong(&self, got: &Value, context: &Object, fits: Fits<'_>) -> Lack {
        let (step, what, said) = (self.step, self.what, written(self.source));
        let reason = format!("`{step}` needs {what} in `{said}`, which holds something else.");
        match self.source.path() {
            Some(name) => Lack::misfit(name, got, self.like.clone(), reason),
            None => unfit(said, context, reason, fits),
        }
    }
}

fn written(source: &Source) -> &str {
    let (Source::Name(text) | Source::Cel(text)) = source;
    text
}

/// A number without a fraction that is not negative, however it is written.
fn whole(value: &Value) -> Option<u64> {
    /// Beyond this, not every whole number has a float of its own.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    if number.fract() != 0.0 || !(0.0..=EXACT_MAX).contains(&number) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative, and within range"
    )]
    Some(number as u64)
}
