//! Parses a line of text into values of a schema. The form is `key=value`: quotes for values with
//! spaces, JSON for JSON values, else plain words up to the next key.

use serde_json::{Map, Value};

use super::{FieldValueKind, FieldValueShape, FormField, find_form_field, form_fields};

/// Keys that are searched for. No tool has this many fields, and the limit keeps the parsing time
/// linear in the length of the line.
/// Limit (Agents): keys that the offline model looks for in one message.
const PAIRS_MAX: usize = 100;

/// A line of assignments.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct AssignmentLine {
    /// The text before the first key.
    pub before: String,
    pub pairs: Vec<(String, UnparsedValue)>,
}

/// A value that the schema of its field has still to parse.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnparsedValue {
    /// The value by its own syntax: an object, a list, or text in quotes.
    json: Option<Value>,
    /// The text from the line, without quotes.
    pub text: String,
}

impl AssignmentLine {
    pub(crate) fn parse_assignment_line(line: &str) -> Self {
        let mut found = Self::default();
        let mut rest = line.trim();
        let mut plain = String::new();
        while !rest.is_empty() {
            match split_assignment_key(rest).filter(|_| found.pairs.len() < PAIRS_MAX) {
                Some((name, after)) => {
                    found.append_unkeyed_words(&plain);
                    plain.clear();
                    let (value, after) = split_assignment_value(after);
                    found.pairs.push((name.to_owned(), value));
                    rest = after;
                }
                None => {
                    let (word, after) = split_word(rest);
                    plain.push_str(word);
                    rest = after;
                }
            }
        }
        found.append_unkeyed_words(&plain);
        found
    }

    /// Words without a key belong to the previous value, or to the text before the first key.
    fn append_unkeyed_words(&mut self, plain: &str) {
        let plain = plain.trim_end();
        if plain.trim().is_empty() {
            return;
        }
        match self.pairs.last_mut() {
            None => plain.trim_start().clone_into(&mut self.before),
            Some((_, value)) => {
                value.json = None;
                value.text.push_str(plain);
            }
        }
    }
}

impl UnparsedValue {
    /// The value for a field of that shape, if it can be one.
    pub(crate) fn coerce_to_shape(&self, shape: &FieldValueShape<'_>) -> Option<Value> {
        match &self.json {
            Some(json)
                if shape.accepts_kind(FieldValueKind::kind_of_value(json)) && shape.choices.is_empty() =>
            {
                Some(json.clone())
            }
            _ => shape.parse_text_to_value(&self.text),
        }
    }
}

/// An object in the form `name=value …`, with nothing else on the line.
pub fn parse_assignments(schema: &Value, line: &str) -> Option<Value> {
    let fields = form_fields(schema);
    let AssignmentLine { before, pairs } = AssignmentLine::parse_assignment_line(line);
    if !before.is_empty() || pairs.is_empty() {
        return None;
    }
    let one = |(key, raw): (String, UnparsedValue)| {
        let field = find_form_field(&fields, &key)?;
        Some((field.name.to_owned(), raw.coerce_to_shape(&field.shape)?))
    };
    pairs.into_iter().map(one).collect::<Option<Map<_, _>>>().map(Value::Object)
}

/// A value without a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedBareValue {
    pub value: Value,
    /// It is the line itself, and any other text would also be valid.
    pub is_free: bool,
}

/// The line as the value of the only required field.
pub(crate) fn parse_only_required_field(schema: &Value, line: &str) -> Option<ParsedBareValue> {
    let fields = form_fields(schema);
    let mut required = fields.iter().filter(|field| field.required);
    let (Some(FormField { name, shape, .. }), None) = (required.next(), required.next()) else {
        return None;
    };
    let ParsedBareValue { value, is_free } = parse_line_with_shape(shape, line)?;
    let value = Value::Object(Map::from_iter([((*name).to_owned(), value)]));
    Some(ParsedBareValue { value, is_free })
}

/// The line as the value itself.
pub(crate) fn parse_bare_value(schema: &Value, line: &str) -> Option<ParsedBareValue> {
    parse_line_with_shape(&FieldValueShape::shape_from_schema(schema, schema), line)
}

fn parse_line_with_shape(shape: &FieldValueShape<'_>, line: &str) -> Option<ParsedBareValue> {
    let value = shape.parse_text_to_value(line)?;
    let is_free = value.is_string() && shape.choices.is_empty();
    Some(ParsedBareValue { value, is_free })
}

/// A key and the text after its `=`.
fn split_assignment_key(text: &str) -> Option<(&str, &str)> {
    let length = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))?;
    let (name, after) = text.split_at(length);
    let after = after.strip_prefix('=')?;
    let starts_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts_well.then_some((name, after))
}

/// The value at the start, and the rest.
fn split_assignment_value(text: &str) -> (UnparsedValue, &str) {
    if let Some((json, after)) = split_json_prefix(text).or_else(|| split_single_quoted(text)) {
        let written = &text[..text.len() - after.len()];
        let text = json.as_str().unwrap_or(written).to_owned();
        return (UnparsedValue { json: Some(json), text }, after);
    }
    let (word, after) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    (UnparsedValue { json: None, text: word.to_owned() }, after)
}

/// The object, list or text in double quotes at the start of the line, if a space or the end follows.
fn split_json_prefix(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next().filter(|_| text.starts_with(['{', '[', '"']))?.ok()?;
    let after = &text[values.byte_offset()..];
    is_word_end(after).then_some((value, after))
}

/// Text in single quotes. A quote closes only at the end of a word, so an apostrophe inside a word does
/// not.
fn split_single_quoted(text: &str) -> Option<(Value, &str)> {
    let inside = text.strip_prefix('\'')?;
    let mut closing = inside.match_indices('\'').map(|(at, _)| at);
    let end = closing.find(|at| is_word_end(&inside[at + 1..]))?;
    Some((Value::from(&inside[..end]), &inside[end + 1..]))
}

fn is_word_end(after: &str) -> bool {
    after.chars().next().is_none_or(char::is_whitespace)
}

/// One word or the space before it.
fn split_word(text: &str) -> (&str, &str) {
    let is_space = text.starts_with(char::is_whitespace);
    let end = text.find(|c: char| c.is_whitespace() != is_space).unwrap_or(text.len());
    text.split_at(end)
}
