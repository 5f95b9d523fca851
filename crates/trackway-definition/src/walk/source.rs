//! Values that the walk takes from the context: lists, numbers, arguments.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trackway_domain::{Block, Object};

use super::{Walker, bounds, held};
use crate::{
    expression::evaluate,
    model::{Amount, Source},
};

impl Walker<'_> {
    /// The list that a loop or a map goes through.
    pub(super) fn list(&mut self, step: &str, source: &Source) -> Result<Vec<Value>, Block> {
        let schema = json!({"type": "array"});
        let example = json!(["first", "second"]);
        match self.wanted(step, source, "a list", &schema, &example)? {
            Value::Array(items) => Ok(items),
            other => Err(wrong(step, source, "a list", schema, example, other)),
        }
    }

    /// How many rounds a loop has.
    pub(super) fn amount(&mut self, step: &str, amount: &Amount) -> Result<u64, Block> {
        let source = match amount {
            Amount::Number(number) => return Ok(u64::from(*number)),
            Amount::From(source) => source,
        };
        let schema = json!({"type": "integer", "minimum": 0});
        let example = json!(3);
        let value = self.wanted(step, source, "a whole number", &schema, &example)?;
        whole(&value).ok_or_else(|| wrong(step, source, "a whole number", schema, example, value))
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

    fn wanted(
        &mut self,
        step: &str,
        source: &Source,
        what: &str,
        schema: &Value,
        example: &Value,
    ) -> Result<Value, Block> {
        let path = match source {
            Source::Name(path) => path,
            Source::Cel(source) => return self.look(|names| evaluate(source, names)),
        };
        let found = at(&self.context, path).or_else(|| {
            // As for every name that a context lacks.
            let top = path.split('.').next().unwrap_or(path);
            at(&self.facts, path).filter(|_| !self.context.contains_key(top))
        });
        found.cloned().ok_or_else(|| {
            let message = format!("`{step}` needs {what} in `{path}`, which is not set");
            held::missing(path, message, schema.clone(), example.clone())
        })
    }
}

/// The value at a path of names.
fn at<'a>(context: &'a Object, path: &str) -> Option<&'a Value> {
    // A name may itself have a dot in it; the plain name is what was most likely meant.
    if let Some(value) = context.get(path) {
        return Some(value);
    }
    let mut names = path.split('.');
    let first = context.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
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

fn wrong(
    step: &str,
    source: &Source,
    what: &str,
    schema: Value,
    example: Value,
    got: Value,
) -> Block {
    let (name, said) = match source {
        Source::Name(path) => (Some(path.as_str()), path),
        Source::Cel(source) => (None, source),
    };
    let message = format!("`{step}` needs {what} in `{said}`, which holds something else");
    held::invalid(name, message, schema, example, got)
}
