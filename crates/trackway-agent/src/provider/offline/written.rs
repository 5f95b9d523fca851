//! What somebody wrote, as a value of a schema: the same for a command, for a reply in a conversation and
//! for a form at the terminal.

use serde_json::{Map, Value};

use super::{
    assignments::Assignments,
    fields::{self, Field},
    shape::Shape,
};

/// An object that is written as `name=value …`, with nothing else on the line.
pub fn written_fields(schema: &Value, line: &str) -> Option<Value> {
    let fields = fields::fields(schema);
    let Assignments { before, pairs } = Assignments::read(line);
    if !before.is_empty() || pairs.is_empty() {
        return None;
    }
    let one = |(key, written): (String, super::assignments::Written)| {
        let field = fields::find(&fields, &key)?;
        Some((field.name.to_owned(), written.value(&field.shape)?))
    };
    pairs.into_iter().map(one).collect::<Option<Map<_, _>>>().map(Value::Object)
}

/// A value that is written without a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub value: Value,
    /// It is the line itself, and any other would have done as well.
    pub is_free: bool,
}

/// The line as the value of the one field that has to be there.
pub(crate) fn written_field(schema: &Value, line: &str) -> Option<Line> {
    let fields = fields::fields(schema);
    let mut required = fields.iter().filter(|field| field.required);
    let (Some(Field { name, shape, .. }), None) = (required.next(), required.next()) else {
        return None;
    };
    let Line { value, is_free } = read(shape, line)?;
    let value = Value::Object(Map::from_iter([((*name).to_owned(), value)]));
    Some(Line { value, is_free })
}

/// The line as the value itself.
pub(crate) fn written_value(schema: &Value, line: &str) -> Option<Line> {
    read(&Shape::of(schema, schema), line)
}

fn read(shape: &Shape<'_>, line: &str) -> Option<Line> {
    let value = shape.read(line)?;
    let is_free = value.is_string() && shape.choices.is_empty();
    Some(Line { value, is_free })
}
