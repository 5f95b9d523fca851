//! Reads a file even if parts of it are wrong. Unreadable parts are reported and left out, so that
//! a user who fixes a file sees all problems at once.

use std::ops::Range;

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue, Deserializer, Error},
};

use super::file::File;

/// A part of the file that cannot be read.
#[derive(Debug)]
pub(super) struct Misread {
    pub(super) at: Range<usize>,
    /// `auth.keys[0].scopes`; empty if it is not known.
    pub(super) key: String,
    pub(super) message: String,
    /// The key that may have been meant.
    pub(super) meant: Option<String>,
}

/// The readable part of the file, and the unreadable parts. Nothing is read from a text that is not
/// TOML.
pub(super) fn read(text: &str) -> (File, Vec<Misread>) {
    let (mut table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return (
            File::default(),
            errors.iter().map(|error| misread(error, String::new())).collect(),
        );
    }
    let mut told: Vec<Misread> = Vec::new();
    loop {
        let error = match File::deserialize(Deserializer::from(table.clone())) {
            Ok(file) => return (file, told),
            Err(error) => error,
        };
        let at = error.span().unwrap_or(0..0);
        // Every round removes something, so the loop ends.
        let Some(way) = cut(table.get_mut(), &at) else {
            told.push(misread(&error, String::new()));
            return (File::default(), told);
        };
        // Not a finding: the key is missing only because it was removed in an earlier round.
        let is_followed = missing(&error).is_some_and(|name| {
            let gone = join(&way, name);
            told.iter().any(|earlier| earlier.key == gone)
        });
        if !is_followed {
            told.push(misread(&error, way));
        }
    }
}

/// The line itself is not included: it may contain a secret.
fn misread(error: &Error, key: String) -> Misread {
    let message = error.message();
    // Only the message names the known keys: "unknown field `a`, expected `b` or `c`".
    let words: Vec<String> = message.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let meant = match words.split_first() {
        Some((written, known)) if message.starts_with("unknown field") => {
            trackway_definition::nearest(written, known).map(str::to_owned)
        }
        _ => None,
    };
    Misread { at: error.span().unwrap_or(0..0), key, message: message.to_owned(), meant }
}

/// The name of the missing key, if the error is about one.
fn missing(error: &Error) -> Option<&str> {
    error.message().strip_prefix("missing field `")?.split('`').next()
}

/// Removes the innermost entry at this position, and returns its key.
fn cut(table: &mut DeTable<'_>, at: &Range<usize>) -> Option<String> {
    let mut gone = None;
    for (key, value) in table.iter_mut() {
        let name = key.get_ref().to_string();
        if covers(&key.span(), at) {
            gone = Some(name);
            break;
        }
        let span = value.span();
        if let Some(inner) = cut_inside(value.get_mut(), at) {
            return Some(join(&name, &inner));
        }
        if covers(&span, at) {
            gone = Some(name);
            break;
        }
    }
    let name = gone?;
    table.remove(name.as_str());
    Some(name)
}

fn cut_inside(value: &mut DeValue<'_>, at: &Range<usize>) -> Option<String> {
    match value {
        DeValue::Table(table) => cut(table, at),
        DeValue::Array(items) => cut_item(items, at),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => None,
    }
}

fn cut_item(items: &mut DeArray<'_>, at: &Range<usize>) -> Option<String> {
    for (index, item) in items.iter_mut().enumerate() {
        if let Some(inner) = cut_inside(item.get_mut(), at) {
            return Some(format!("[{index}].{inner}"));
        }
    }
    let index = items.iter().position(|item| covers(&item.span(), at))?;
    let mut rest = DeArray::new();
    let others = items.iter().enumerate().filter(|(place, _)| *place != index);
    others.for_each(|(_, item): (_, &Spanned<DeValue<'_>>)| rest.push(item.clone()));
    *items = rest;
    Some(format!("[{index}]"))
}

fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end && !outer.is_empty()
}

fn join(outer: &str, inner: &str) -> String {
    if inner.starts_with('[') { format!("{outer}{inner}") } else { format!("{outer}.{inner}") }
}
