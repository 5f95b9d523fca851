//! The front matter of an agent's file: strict keys, each with its line. Problems are recorded, and
//! reading continues.

use std::path::Path;

use serde_json::Value;
use trackway_definition::{Format, Located, locate, nearest};

use crate::workspace::{
    finding::Finding,
    reference::{self, Variables},
};

/// Begins and ends the front matter.
const FENCE: &str = "---";

/// Front matter and body of a file. The front matter keeps its line numbers: the fence above it becomes
/// an empty line.
pub(super) fn split(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != FENCE {
        return None;
    }
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some((format!("\n{}", &rest[..end]), &rest[end + line.len()..]));
        }
        end += line.len();
    }
    None
}

/// The front matter of one file, while it is read.
pub(super) struct Front<'a> {
    file: &'a Path,
    located: Located,
    variables: Variables<'a>,
    pub(super) findings: Vec<Finding>,
}

impl<'a> Front<'a> {
    pub(super) fn read(
        file: &'a Path,
        head: &str,
        variables: Variables<'a>,
    ) -> Result<Self, Finding> {
        // Empty front matter is an object without keys.
        let is_empty = head.lines().all(|line| {
            let line = line.trim();
            line.is_empty() || line.starts_with('#')
        });
        let located = match locate(if is_empty { "{}" } else { head }, Format::Yaml) {
            Ok(located) => located,
            Err(fault) => {
                let finding = Finding::error(fault.message).file(file).line(fault.line);
                let finding = finding.key(dotted(&fault.path));
                return Err(match fault.suggestion {
                    Some(suggestion) => finding.suggest(suggestion),
                    None => finding,
                });
            }
        };
        Ok(Self { file, located, variables, findings: Vec::new() })
    }

    pub(super) fn line(&self, pointer: &str) -> Option<u32> {
        self.located.line(pointer)
    }

    /// The value there; `null` counts as absent.
    pub(super) fn get(&self, pointer: &str) -> Option<&Value> {
        self.located.value.pointer(pointer).filter(|value| !value.is_null())
    }

    /// The keys of the object there. Unknown keys are recorded as findings.
    pub(super) fn keys(&mut self, pointer: &str, known: Option<&[&str]>) -> Vec<String> {
        let keys: Vec<String> = match self.get(pointer) {
            None => return Vec::new(),
            Some(Value::Object(entries)) => entries.keys().cloned().collect(),
            Some(_) => {
                self.wrong::<()>(pointer, "it is not a list of `key: value` lines");
                return Vec::new();
            }
        };
        let Some(known) = known else { return keys };
        for key in keys.iter().filter(|key| !known.contains(&key.as_str())) {
            let at = format!("{pointer}/{}", escaped(key));
            let finding = self.at(&at, format!("there is no key {key:?}"));
            self.findings.push(match nearest(key, known.iter().copied()) {
                Some(meant) => finding.meant(Some(meant)),
                None => finding.suggest(format!("there are: {}", known.join(", "))),
            });
        }
        keys
    }

    /// A string, with its references replaced.
    pub(super) fn text(&mut self, pointer: &str) -> Option<String> {
        let text = match self.get(pointer)? {
            Value::String(text) => text.clone(),
            _ => return self.wrong(pointer, "it is not a string"),
        };
        match reference::resolve(&text, self.variables) {
            Ok(text) => Some(text),
            Err(bad) => {
                let finding = self.at(pointer, bad.message());
                self.findings.push(match bad.suggestion() {
                    Some(suggestion) => finding.suggest(suggestion),
                    None => finding,
                });
                None
            }
        }
    }

    /// A string that must not be empty.
    pub(super) fn some(&mut self, pointer: &str) -> Option<String> {
        let text = self.text(pointer)?;
        if text.trim().is_empty() { self.wrong(pointer, "it is empty") } else { Some(text) }
    }

    /// The number of items of the list there.
    pub(super) fn items(&mut self, pointer: &str) -> usize {
        match self.get(pointer) {
            None => 0,
            Some(Value::Array(items)) => items.len(),
            Some(_) => {
                self.wrong::<()>(pointer, "it is not a list");
                0
            }
        }
    }

    /// A list of strings; none if it is absent.
    pub(super) fn texts(&mut self, pointer: &str) -> Option<Vec<String>> {
        self.get(pointer)?;
        let items = 0..self.items(pointer);
        Some(items.filter_map(|index| self.some(&format!("{pointer}/{index}"))).collect())
    }

    /// A whole number from 1 on.
    pub(super) fn count(&mut self, pointer: &str) -> Option<u64> {
        match self.get(pointer)?.as_u64() {
            Some(count) if count > 0 => Some(count),
            _ => self.wrong(pointer, "it is not a whole number, 1 or more"),
        }
    }

    /// An amount of money.
    pub(super) fn amount(&mut self, pointer: &str) -> Option<f64> {
        match self.get(pointer)?.as_f64() {
            Some(amount) if amount > 0.0 && amount.is_finite() => Some(amount),
            _ => self.wrong(pointer, "it is not a number above 0"),
        }
    }

    pub(super) fn wrong<T>(&mut self, pointer: &str, why: impl Into<String>) -> Option<T> {
        let finding = self.at(pointer, why);
        self.findings.push(finding);
        None
    }

    pub(super) fn at(&self, pointer: &str, why: impl Into<String>) -> Finding {
        let finding = Finding::error(why).file(self.file).line(self.located.line(pointer));
        finding.key(dotted(pointer))
    }
}

/// A JSON pointer as people write it: `skills[0].name`.
pub(super) fn dotted(pointer: &str) -> String {
    let mut dotted = String::new();
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        if !token.is_empty() && token.chars().all(|c| c.is_ascii_digit()) {
            dotted.push_str(&format!("[{token}]"));
            continue;
        }
        if !dotted.is_empty() {
            dotted.push('.');
        }
        dotted.push_str(&token);
    }
    dotted
}

/// A key as a token of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
