//! A value of a file with its pointer, and typed access to it.
//!
//! Access never stops the reading: a value that does not fit is reported to the [`FindingSink`] with what was
//! expected and what was found, and the caller continues without it.

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::{Map, Value};

use super::finding_sink::FindingSink;
use crate::Finding;
use crate::spelling_suggestion::nearest_known_word;

/// A value and its pointer.
#[derive(Debug, Clone)]
pub(super) struct FileValue<'v> {
    pub(super) value: &'v Value,
    /// JSON pointer into the file.
    pub(super) path: String,
    pub(super) sink: &'v FindingSink,
}

impl<'v> FileValue<'v> {
    pub(super) fn new(value: &'v Value, path: impl Into<String>, sink: &'v FindingSink) -> Self {
        Self { value, path: path.into(), sink }
    }

    pub(super) fn report_finding(&self, message: impl Into<String>) {
        self.sink.add_finding(Finding::new(&self.path, message));
    }

    /// Reports a finding with what the author probably meant.
    pub(super) fn report_with_suggestion(&self, message: impl Into<String>, suggestion: Option<&str>) {
        let finding = Finding::new(&self.path, message);
        self.sink.add_finding(match suggestion {
            Some(suggestion) => finding.with_suggestion(format!("did you mean `{suggestion}`?")),
            None => finding,
        });
    }

    pub(super) fn note_ignored_construct(&self, message: impl Into<String>) {
        self.sink.note_ignored_construct(&self.path, message);
    }

    pub(super) fn report_unsupported_construct(&self, message: impl Into<String>) {
        self.sink.report_unsupported_construct(&self.path, message);
    }

    /// Reports what was expected here, and what was found.
    pub(super) fn report_expected_kind(&self, what: &str) {
        self.report_finding(format!("expected {what}, found {}", describe_file_value_kind(self.value)));
    }

    pub(super) fn expect_text(&self) -> Option<&'v str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.report_expected_kind("text");
        }
        text
    }

    /// A text that is not empty.
    pub(super) fn expect_nonempty_text(&self) -> Option<&'v str> {
        let text = self.expect_text()?;
        if text.trim().is_empty() {
            self.report_finding("expected text, found an empty one");
            return None;
        }
        Some(text)
    }

    /// A text, or a whole number in place of one: `version: 1`. A number with a point may have lost digits,
    /// so it has to be quoted.
    pub(super) fn expect_text_or_integer(&self) -> Option<Cow<'v, str>> {
        match self.value {
            Value::Number(number) if number.is_f64() => {
                let quoted = format!("\"{number}\"");
                self.report_with_suggestion("expected text, found a number", Some(&quoted));
                None
            }
            Value::Number(number) => Some(Cow::Owned(number.to_string())),
            _ => self.expect_nonempty_text().map(Cow::Borrowed),
        }
    }

    /// Reports a word that means true or false in older YAML and is text here.
    pub(super) fn report_if_legacy_boolean(&self) -> bool {
        let word = self.value.as_str().unwrap_or_default().to_ascii_lowercase();
        let meant = match word.as_str() {
            "yes" | "on" => "true",
            "no" | "off" => "false",
            _ => return false,
        };
        self.report_with_suggestion(format!("`{word}` is text, not true or false"), Some(meant));
        true
    }

    /// A name that an expression can use.
    pub(super) fn expect_identifier(&self) -> Option<&'v str> {
        let text = self.expect_text()?;
        if !is_identifier(text) {
            self.report_finding(format!(
                "`{text}` is no name: letters, digits and `_`, not beginning with a digit"
            ));
            return None;
        }
        Some(text)
    }

    pub(super) fn expect_bool(&self) -> Option<bool> {
        let flag = self.value.as_bool();
        if flag.is_none() && !self.report_if_legacy_boolean() {
            self.report_expected_kind("true or false");
        }
        flag
    }

    /// A whole number within limits.
    pub(super) fn expect_integer(&self, min: u32, max: u32) -> Option<u32> {
        let number = self.value.as_f64().filter(|number| number.fract() == 0.0);
        let fitting = number.filter(|number| (f64::from(min)..=f64::from(max)).contains(number));
        if fitting.is_none() {
            let found = match self.value {
                Value::Number(number) => number.to_string(),
                other => describe_file_value_kind(other).to_owned(),
            };
            self.report_finding(format!("expected a whole number from {min} to {max}, found {found}"));
        }
        // In range and whole, so nothing is lost.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        fitting.map(|number| number as u32)
    }

    pub(super) fn expect_list(&self) -> Vec<FileValue<'v>> {
        let Some(items) = self.value.as_array() else {
            self.report_expected_kind("a list");
            return Vec::new();
        };
        let item = |(index, value)| FileValue::new(value, format!("{}/{index}", self.path), self.sink);
        items.iter().enumerate().map(item).collect()
    }

    /// A list of texts.
    pub(super) fn expect_text_list(&self) -> Vec<(FileValue<'v>, &'v str)> {
        let items = self.expect_list().into_iter();
        items.filter_map(|at| at.expect_text().map(|text| (at.clone(), text))).collect()
    }

    pub(super) fn expect_object(&self) -> Option<ObjectFields<'v>> {
        let Some(map) = self.value.as_object() else {
            self.report_expected_kind("an object");
            return None;
        };
        Some(ObjectFields { map, value: self.clone(), known_keys: RefCell::default() })
    }

    /// The entries of an object whose keys the author chooses.
    pub(super) fn expect_entries(&self) -> Vec<(&'v str, FileValue<'v>)> {
        let Some(map) = self.value.as_object() else {
            self.report_expected_kind("an object");
            return Vec::new();
        };
        map.iter().map(|(key, value)| (key.as_str(), self.child_value(key, value))).collect()
    }

    fn child_value(&self, key: &str, value: &'v Value) -> FileValue<'v> {
        FileValue::new(value, format!("{}/{}", self.path, escape_pointer_token(key)), self.sink)
    }
}

/// An object whose keys the format defines. A key that was not requested by the end is unknown.
#[derive(Debug)]
pub(super) struct ObjectFields<'v> {
    map: &'v Map<String, Value>,
    pub(super) value: FileValue<'v>,
    known_keys: RefCell<Vec<&'static str>>,
}

impl<'v> ObjectFields<'v> {
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    pub(super) fn get_and_mark_known(&self, key: &'static str) -> Option<FileValue<'v>> {
        self.known_keys.borrow_mut().push(key);
        self.map.get(key).map(|value| self.value.child_value(key, value))
    }

    pub(super) fn require_key(&self, key: &'static str) -> Option<FileValue<'v>> {
        let found = self.get_and_mark_known(key);
        if found.is_none() {
            // `report_unknown_keys` reports a key that is nearly this one as misspelt.
            let near = self.map.keys().any(|other| similar_known_key(other, &[key]).is_some());
            if !near {
                self.value.report_finding(format!("`{key}` is missing"));
            }
        }
        found
    }

    /// Keys that are only informational. A strict file may not have them, because nothing acts on them.
    pub(super) fn note_informational_keys(&self, keys: &[&'static str]) {
        if self.value.sink.is_strict {
            return;
        }
        for key in keys {
            if let Some(at) = self.get_and_mark_known(key) {
                at.note_ignored_construct(format!("`{key}` informs only; nothing acts on it"));
            }
        }
    }

    /// Keys that are read elsewhere.
    pub(super) fn mark_keys_known(&self, keys: &[&'static str]) {
        self.known_keys.borrow_mut().extend(keys);
    }

    /// Reports the keys that were not requested.
    pub(super) fn report_unknown_keys(&self) {
        self.report_unknown_keys_with(|at, key| {
            at.note_ignored_construct(format!("`{key}` is not known; nothing acts on it"))
        });
    }

    /// As `report_unknown_keys`, with a report for a key that is not a misspelling.
    pub(super) fn report_unknown_keys_with(&self, unknown: impl Fn(&FileValue<'v>, &str)) {
        let known = self.known_keys.borrow();
        // A key that is already present is not what a misspelt one means.
        let open: Vec<&str> = known.iter().copied().filter(|key| !self.has_key(key)).collect();
        for (key, value) in self.map {
            if known.contains(&key.as_str()) {
                continue;
            }
            let at = self.value.child_value(key, value);
            match similar_known_key(key, &open) {
                Some(meant) => at.report_with_suggestion(format!("`{key}` is not known here"), Some(meant)),
                None if at.sink.is_strict => at.report_finding(format!("`{key}` is not known here")),
                None => unknown(&at, key),
            }
        }
    }
}

/// The known key with nearly the same spelling.
fn similar_known_key<'k>(key: &str, known_keys: &[&'k str]) -> Option<&'k str> {
    nearest_known_word(key, known_keys.iter().copied())
}

pub(super) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|other| other.is_ascii_alphanumeric() || other == '_')
}

/// Names joined by dots.
pub(super) fn is_identifier_path(text: &str) -> bool {
    text.split('.').all(is_identifier)
}

fn escape_pointer_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The kind of a value, in words for the author of a file.
pub(super) fn describe_file_value_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
