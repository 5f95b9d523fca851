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

/// The line as the value of the one field that has to be there.
pub(crate) fn written_field(schema: &Value, line: &str) -> Option<Value> {
    let fields = fields::fields(schema);
    let mut required = fields.iter().filter(|field| field.required);
    let (Some(Field { name, shape, .. }), None) = (required.next(), required.next()) else {
        return None;
    };
    let value = shape.read(line)?;
    Some(Value::Object(Map::from_iter([((*name).to_owned(), value)])))
}

/// The line as the value itself.
pub(crate) fn written_value(schema: &Value, line: &str) -> Option<Value> {
    Shape::of(schema, schema).read(line)
}
