//! `key=value` as people write it on a line: quotes where there are spaces, JSON where a value is one,
//! and plain words up to the next key.

use serde_json::Value;

use super::shape::{Kind, Shape};

/// Keys that are looked for. No tool has as many fields, and whatever a line holds is read in time that
/// grows with its length.
/// Limit (Agents): keys that the offline model looks for in one message.
const PAIRS_MAX: usize = 100;

/// A line of assignments.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Assignments {
    /// What stands before the first key.
    pub before: String,
    pub pairs: Vec<(String, Written)>,
}

/// A value as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Written {
    /// To be read by the schema of its field.
    Word(String),
    /// In quotes: text where the field takes text.
    Quoted(String),
    /// An object or a list, and how it was written.
    Json(Value, String),
}

impl Assignments {
    pub(super) fn read(line: &str) -> Self {
        let mut found = Self::default();
        let mut rest = line.trim();
        let mut plain = String::new();
        while !rest.is_empty() {
            match key(rest).filter(|_| found.pairs.len() < PAIRS_MAX) {
                Some((name, after)) => {
                    found.put(&plain);
                    plain.clear();
                    let (value, after) = value(after);
                    found.pairs.push((name.to_owned(), value));
                    rest = after;
                }
                None => {
                    let (word, after) = word(rest);
                    plain.push_str(word);
                    rest = after;
                }
            }
        }
        found.put(&plain);
        found
    }

    /// Words without a key belong to the value before them, or stand before everything.
    fn put(&mut self, plain: &str) {
        let plain = plain.trim_end();
        if plain.trim().is_empty() {
            return;
        }
        match self.pairs.last_mut() {
            None => plain.trim_start().clone_into(&mut self.before),
            Some((_, Written::Word(value) | Written::Quoted(value))) => value.push_str(plain),
            Some((_, value)) => {
                let Written::Json(_, text) = value else { return };
                *value = Written::Word(format!("{text}{plain}"));
            }
        }
    }
}

impl Written {
    /// The value for a field of that shape, where it can be one.
    pub(super) fn value(&self, shape: &Shape<'_>) -> Option<Value> {
        match self {
            Self::Word(text) => shape.read(text),
            Self::Quoted(text) if shape.takes(Kind::Text) && shape.choices.is_empty() => {
                Some(Value::String(text.clone()))
            }
            Self::Quoted(text) => shape.read(text),
            Self::Json(json, _) if shape.takes(Kind::of(json)) => Some(json.clone()),
            Self::Json(_, text) => shape.read(text),
        }
    }

    /// As it was written, without quotes.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Quoted(text) | Self::Json(_, text) => text,
        }
    }
}

/// A key and what follows its sign.
fn key(text: &str) -> Option<(&str, &str)> {
    let length = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))?;
    let (name, after) = text.split_at(length);
    let after = after.strip_prefix('=')?;
    let starts_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts_well.then_some((name, after))
}

/// The value at the start, and what follows it.
fn value(text: &str) -> (Written, &str) {
    if text.starts_with(['{', '['])
        && let Some((json, after)) = json_prefix(text)
    {
        let text = text[..text.len() - after.len()].to_owned();
        return (Written::Json(json, text), after);
    }
    if let Some((quoted, after)) = quoted(text) {
        return (Written::Quoted(quoted), after);
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    (Written::Word(word.to_owned()), after)
}

/// The JSON value that the text begins with, where a space or the end follows it.
fn json_prefix(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let after = &text[values.byte_offset()..];
    ends(after).then_some((value, after))
}

/// Text in quotes at the start, without them, where a space or the end follows it.
pub(super) fn quoted(text: &str) -> Option<(String, &str)> {
    if text.starts_with('"')
        && let Some((Value::String(string), after)) = json_prefix(text)
    {
        return Some((string, after));
    }
    let mut characters = text.chars();
    let open = characters.next()?;
    let close = closing(open)?;
    let inside = characters.as_str();
    // An apostrophe inside of a word does not close: a quote closes where the word ends.
    let end = inside
        .char_indices()
        .filter(|(_, c)| *c == close)
        .map(|(at, _)| at)
        .find(|at| ends(&inside[at + close.len_utf8()..]))?;
    Some((inside[..end].to_owned(), &inside[end + close.len_utf8()..]))
}

fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' => '"',
        '\'' => '\'',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        _ => return None,
    })
}

fn ends(after: &str) -> bool {
    after.chars().next().is_none_or(char::is_whitespace)
}

/// One word or the space before it.
fn word(text: &str) -> (&str, &str) {
    let is_space = text.starts_with(char::is_whitespace);
    let end = text.find(|c: char| c.is_whitespace() != is_space).unwrap_or(text.len());
    text.split_at(end)
}
