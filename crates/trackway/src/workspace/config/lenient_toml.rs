//! Reads a file even if parts of it are wrong. Unreadable parts are reported and left out, so that
//! a user who fixes a file sees all problems at once.

use std::ops::Range;

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue, Deserializer, Error},
};

use super::raw_config::RawConfig;

/// A part of the file that cannot be read.
#[derive(Debug)]
pub(super) struct TomlParseFinding {
    pub(super) at: Range<usize>,
    /// `auth.keys[0].scopes`; empty if it is not known.
    pub(super) key: String,
    pub(super) message: String,
    /// The key that may have been meant.
    pub(super) meant: Option<String>,
}

/// The readable part of the file, and the unreadable parts. Nothing is read from a text that is not
/// TOML.
pub(super) fn parse_config_leniently(text: &str) -> (RawConfig, Vec<TomlParseFinding>) {
    let (mut table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return (
            RawConfig::default(),
            errors.iter().map(|error| finding_from_toml_error(error, String::new())).collect(),
        );
    }
    let mut told: Vec<TomlParseFinding> = Vec::new();
    loop {
        let error = match RawConfig::deserialize(Deserializer::from(table.clone())) {
            Ok(file) => return (file, told),
            Err(error) => error,
        };
        let at = error.span().unwrap_or(0..0);
        // Every round removes something, so the loop ends.
        let Some(way) = remove_toml_entry_at(table.get_mut(), &at) else {
            told.push(finding_from_toml_error(&error, String::new()));
            return (RawConfig::default(), told);
        };
        // Not a finding: the key is missing only because it was removed in an earlier round.
        let is_followed = missing_field_name(&error).is_some_and(|name| {
            let gone = join_key_path(&way, name);
            told.iter().any(|earlier| earlier.key == gone)
        });
        if !is_followed {
            told.push(finding_from_toml_error(&error, way));
        }
    }
}

/// The line itself is not included: it may contain a secret.
fn finding_from_toml_error(error: &Error, key: String) -> TomlParseFinding {
    let message = error.message();
    // Only the message names the known keys: "unknown field `a`, expected `b` or `c`".
    let words: Vec<String> = message.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let meant = match words.split_first() {
        Some((written, known)) if message.starts_with("unknown field") => {
            trackway_definition::nearest_known_word(written, known).map(str::to_owned)
        }
        _ => None,
    };
    TomlParseFinding { at: error.span().unwrap_or(0..0), key, message: message.to_owned(), meant }
}

/// The name of the missing key, if the error is about one.
fn missing_field_name(error: &Error) -> Option<&str> {
    error.message().strip_prefix("missing field `")?.split('`').next()
}

/// Removes the innermost entry at this position, and returns its key.
fn remove_toml_entry_at(table: &mut DeTable<'_>, at: &Range<usize>) -> Option<String> {
    let mut gone = None;
    for (key, value) in table.iter_mut() {
        let name = key.get_ref().to_string();
        if contains_range(&key.span(), at) {
            gone = Some(name);
            break;
        }
        let span = value.span();
        if let Some(inner) = remove_nested_toml_entry_at(value.get_mut(), at) {
            return Some(join_key_path(&name, &inner));
        }
        if contains_range(&span, at) {
            gone = Some(name);
            break;
        }
    }
    let name = gone?;
    table.remove(name.as_str());
    Some(name)
}

fn remove_nested_toml_entry_at(value: &mut DeValue<'_>, span: &Range<usize>) -> Option<String> {
    match value {
        DeValue::Table(table) => remove_toml_entry_at(table, span),
        DeValue::Array(items) => remove_toml_array_item_at(items, span),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => None,
    }
}

fn remove_toml_array_item_at(items: &mut DeArray<'_>, span: &Range<usize>) -> Option<String> {
    for (index, item) in items.iter_mut().enumerate() {
        if let Some(inner) = remove_nested_toml_entry_at(item.get_mut(), span) {
            return Some(format!("[{index}].{inner}"));
        }
    }
    let index = items.iter().position(|item| contains_range(&item.span(), span))?;
    let mut rest = DeArray::new();
    let others = items.iter().enumerate().filter(|(place, _)| *place != index);
    others.for_each(|(_, item): (_, &Spanned<DeValue<'_>>)| rest.push(item.clone()));
    *items = rest;
    Some(format!("[{index}]"))
}

fn contains_range(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end && !outer.is_empty()
}

fn join_key_path(outer: &str, inner: &str) -> String {
    if inner.starts_with('[') { format!("{outer}{inner}") } else { format!("{outer}.{inner}") }
}
