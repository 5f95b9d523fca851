//! A value of a file with its place, and typed access to it.
//!
//! Access never ends the reading: what does not fit is noted in the [`Sink`] with what was expected and
//! what was found, and the caller goes on without it.

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::{Map, Value};

use super::sink::Sink;
use crate::Fault;
use crate::suggest::nearest;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct At<'v> {
    pub(super) value: &'v Value,
    /// JSON pointer into the file.
    pub(super) path: String,
    pub(super) sink: &'v Sink,
}

impl<'v> At<'v> {
    pub(super) fn new(value: &'v Value, path: impl Into<String>, sink: &'v Sink) -> Self {
        Self { value, path: path.into(), sink }
    }

    pub(super) fn fault(&self, message: impl Into<String>) {
        self.sink.fault(Fault::new(&self.path, message));
    }

    /// A fault with what was probably meant.
    pub(super) fn suggest(&self, message: impl Into<String>, meant: Option<&str>) {
        let fault = Fault::new(&self.path, message);
        self.sink.fault(match meant {
            Some(meant) => fault.suggest(format!("did you mean `{meant}`?")),
            None => fault,
        });
    }

    pub(super) fn aside(&self, message: impl Into<String>) {
        self.sink.aside(&self.path, message);
    }

    pub(super) fn beyond(&self, message: impl Into<String>) {
        self.sink.beyond(&self.path, message);
    }

    /// Says what was expected here, and what was found.
    pub(super) fn expected(&self, what: &str) {
        self.fault(format!("expected {what}, found {}", kind(self.value)));
    }

    pub(super) fn text(&self) -> Option<&'v str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.expected("text");
        }
        text
    }

    /// Text with something in it.
    pub(super) fn filled(&self) -> Option<&'v str> {
        let text = self.text()?;
        if text.trim().is_empty() {
            self.fault("expected text, found nothing in it");
            return None;
        }
        Some(text)
    }

    /// Text that a whole number may stand for: `version: 1`. Of a number with a point not all digits are
    /// known any more, so that it has to be written in quotes.
    pub(super) fn words(&self) -> Option<Cow<'v, str>> {
        match self.value {
            Value::Number(number) if number.is_f64() => {
                let quoted = format!("\"{number}\"");
                self.suggest("expected text, found a number", Some(&quoted));
                None
            }
            Value::Number(number) => Some(Cow::Owned(number.to_string())),
            _ => self.filled().map(Cow::Borrowed),
        }
    }

    /// Says so where this is a word that older YAML has for true or false, and that is text here.
    pub(super) fn is_old_truth(&self) -> bool {
        let word = self.value.as_str().unwrap_or_default().to_ascii_lowercase();
        let meant = match word.as_str() {
            "yes" | "on" => "true",
            "no" | "off" => "false",
            _ => return false,
        };
        self.suggest(format!("`{word}` is text, not true or false"), Some(meant));
        true
    }

    /// A name as it can stand in an expression.
    pub(super) fn name(&self) -> Option<&'v str> {
        let text = self.text()?;
        if !is_name(text) {
            self.fault(format!(
                "`{text}` is no name: letters, digits and `_`, not beginning with a digit"
            ));
            return None;
        }
        Some(text)
    }

    pub(super) fn flag(&self) -> Option<bool> {
        let flag = self.value.as_bool();
        if flag.is_none() && !self.is_old_truth() {
            self.expected("true or false");
        }
        flag
    }

    /// A whole number within bounds.
    pub(super) fn whole(&self, least: u32, most: u32) -> Option<u32> {
        let number = self.value.as_f64().filter(|number| number.fract() == 0.0);
        let fitting = number.filter(|number| (f64::from(least)..=f64::from(most)).contains(number));
        if fitting.is_none() {
            let found = match self.value {
                Value::Number(number) => number.to_string(),
                other => kind(other).to_owned(),
            };
            self.fault(format!("expected a whole number from {least} to {most}, found {found}"));
        }
        // In bounds and whole, so that nothing is lost.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        fitting.map(|number| number as u32)
    }

    pub(super) fn list(&self) -> Vec<At<'v>> {
        let Some(items) = self.value.as_array() else {
            self.expected("a list");
            return Vec::new();
        };
        let item = |(index, value)| At::new(value, format!("{}/{index}", self.path), self.sink);
        items.iter().enumerate().map(item).collect()
    }

    /// A list of texts.
    pub(super) fn texts(&self) -> Vec<(At<'v>, &'v str)> {
        let items = self.list().into_iter();
        items.filter_map(|at| at.text().map(|text| (at.clone(), text))).collect()
    }

    pub(super) fn object(&self) -> Option<Fields<'v>> {
        let Some(map) = self.value.as_object() else {
            self.expected("an object");
            return None;
        };
        Some(Fields { map, at: self.clone(), known: RefCell::default() })
    }

    /// The entries of an object whose keys are the writer's own.
    pub(super) fn entries(&self) -> Vec<(&'v str, At<'v>)> {
        let Some(map) = self.value.as_object() else {
            self.expected("an object");
            return Vec::new();
        };
        map.iter().map(|(key, value)| (key.as_str(), self.child(key, value))).collect()
    }

    fn child(&self, key: &str, value: &'v Value) -> At<'v> {
        At::new(value, format!("{}/{}", self.path, escape(key)), self.sink)
    }
}

/// An object whose keys are the format's. Whatever was not asked for by the end is unknown.
#[derive(Debug)]
pub(super) struct Fields<'v> {
    map: &'v Map<String, Value>,
    pub(super) at: At<'v>,
    known: RefCell<Vec<&'static str>>,
}

impl<'v> Fields<'v> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    pub(super) fn get(&self, key: &'static str) -> Option<At<'v>> {
        self.known.borrow_mut().push(key);
        self.map.get(key).map(|value| self.at.child(key, value))
    }

    pub(super) fn need(&self, key: &'static str) -> Option<At<'v>> {
        let found = self.get(key);
        if found.is_none() {
            // A key that is nearly this one is said to be misspelt by `finish`.
            let near = self.map.keys().any(|other| near(other, &[key]).is_some());
            if !near {
                self.at.fault(format!("`{key}` is missing"));
            }
        }
        found
    }

    /// Keys that only inform. A strict file may not have them, as nothing acts on them.
    pub(super) fn informs(&self, keys: &[&'static str]) {
        if self.at.sink.strict {
            return;
        }
        for key in keys {
            if let Some(at) = self.get(key) {
                at.aside(format!("`{key}` informs only; nothing acts on it"));
            }
        }
    }

    /// Keys that are read elsewhere.
    pub(super) fn knows(&self, keys: &[&'static str]) {
        self.known.borrow_mut().extend(keys);
    }

    /// Notes the keys that nobody asked for.
    pub(super) fn finish(&self) {
        self.finish_with(|at, key| at.aside(format!("`{key}` is not known; nothing acts on it")));
    }

    /// As `finish`, with what is said of a key that is no misspelling.
    pub(super) fn finish_with(&self, unknown: impl Fn(&At<'v>, &str)) {
        let known = self.known.borrow();
        // A key that is there already is not what a misspelt one was meant to be.
        let open: Vec<&str> = known.iter().copied().filter(|key| !self.has(key)).collect();
        for (key, value) in self.map {
            if known.contains(&key.as_str()) {
                continue;
            }
            let at = self.at.child(key, value);
            match near(key, &open) {
                Some(meant) => at.suggest(format!("`{key}` is not known here"), Some(meant)),
                None if at.sink.strict => at.fault(format!("`{key}` is not known here")),
                None => unknown(&at, key),
            }
        }
    }
}

/// The known key that is spelt nearly as this one.
fn near<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    nearest(key, known.iter().copied())
}

pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|other| other.is_ascii_alphanumeric() || other == '_')
}

/// Names joined by dots.
pub(super) fn is_path(text: &str) -> bool {
    text.split('.').all(is_name)
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// What a value is, in the words of somebody who writes a file.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
