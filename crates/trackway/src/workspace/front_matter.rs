//! The front matter of an agent's file: strict keys, each with its line. Problems are recorded, and
//! reading continues.

use std::path::Path;

use serde_json::Value;
use trackway_definition::{FileFormat, LocatedValue, nearest_known_word, parse_located};

use crate::workspace::{
    env_reference::{self, EnvLookup},
    finding::Finding,
};

/// Begins and ends the front matter.
const FENCE: &str = "---";

/// Front matter and body of a file. The front matter keeps its line numbers: the fence above it becomes
/// an empty line.
pub(super) fn split_front_matter(text: &str) -> Option<(String, &str)> {
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
pub(super) struct FrontMatter<'a> {
    file: &'a Path,
    located: LocatedValue,
    variables: EnvLookup<'a>,
    pub(super) findings: Vec<Finding>,
}

impl<'a> FrontMatter<'a> {
    pub(super) fn parse_front_matter(
        file: &'a Path,
        head: &str,
        variables: EnvLookup<'a>,
    ) -> Result<Self, Finding> {
        // Empty front matter is an object without keys.
        let is_empty = head.lines().all(|line| {
            let line = line.trim();
            line.is_empty() || line.starts_with('#')
        });
        let located = match parse_located(if is_empty { "{}" } else { head }, FileFormat::Yaml) {
            Ok(located) => located,
            Err(fault) => {
                let finding =
                    Finding::error_finding(fault.message).located_in_file(file).located_at_line(fault.line);
                let finding = finding.located_at_key(pointer_to_dotted_path(&fault.path));
                return Err(match fault.suggestion {
                    Some(suggestion) => finding.with_suggestion(suggestion),
                    None => finding,
                });
            }
        };
        Ok(Self { file, located, variables, findings: Vec::new() })
    }

    pub(super) fn line_of_pointer(&self, pointer: &str) -> Option<u32> {
        self.located.line_of_pointer(pointer)
    }

    /// The value there; `null` counts as absent.
    pub(super) fn value_at_pointer(&self, pointer: &str) -> Option<&Value> {
        self.located.value.pointer(pointer).filter(|value| !value.is_null())
    }

    /// The keys of the object there. Unknown keys are recorded as findings.
    pub(super) fn read_object_keys(&mut self, pointer: &str, allowed_keys: Option<&[&str]>) -> Vec<String> {
        let keys: Vec<String> = match self.value_at_pointer(pointer) {
            None => return Vec::new(),
            Some(Value::Object(entries)) => entries.keys().cloned().collect(),
            Some(_) => {
                self.report_finding_at::<()>(pointer, "it is not a list of `key: value` lines");
                return Vec::new();
            }
        };
        let Some(known) = allowed_keys else { return keys };
        for key in keys.iter().filter(|key| !known.contains(&key.as_str())) {
            let at = format!("{pointer}/{}", escape_pointer_token(key));
            let finding = self.finding_at_pointer(&at, format!("there is no key {key:?}"));
            self.findings.push(match nearest_known_word(key, known.iter().copied()) {
                Some(meant) => finding.with_nearest_name_suggestion(Some(meant)),
                None => finding.with_suggestion(format!("there are: {}", known.join(", "))),
            });
        }
        keys
    }

    /// A string, with its references replaced.
    pub(super) fn read_text_at(&mut self, pointer: &str) -> Option<String> {
        let text = match self.value_at_pointer(pointer)? {
            Value::String(text) => text.clone(),
            _ => return self.report_finding_at(pointer, "it is not a string"),
        };
        match env_reference::resolve_env_references(&text, self.variables) {
            Ok(text) => Some(text),
            Err(bad) => {
                let finding = self.finding_at_pointer(pointer, bad.reference_error_message());
                self.findings.push(match bad.reference_error_suggestion() {
                    Some(suggestion) => finding.with_suggestion(suggestion),
                    None => finding,
                });
                None
            }
        }
    }

    /// A string that must not be empty.
    pub(super) fn read_nonempty_text_at(&mut self, pointer: &str) -> Option<String> {
        let text = self.read_text_at(pointer)?;
        if text.trim().is_empty() { self.report_finding_at(pointer, "it is empty") } else { Some(text) }
    }

    /// The number of items of the list there.
    pub(super) fn list_item_count(&mut self, pointer: &str) -> usize {
        match self.value_at_pointer(pointer) {
            None => 0,
            Some(Value::Array(items)) => items.len(),
            Some(_) => {
                self.report_finding_at::<()>(pointer, "it is not a list");
                0
            }
        }
    }

    /// A list of strings; none if it is absent.
    pub(super) fn read_text_list(&mut self, pointer: &str) -> Option<Vec<String>> {
        self.value_at_pointer(pointer)?;
        let items = 0..self.list_item_count(pointer);
        Some(items.filter_map(|index| self.read_nonempty_text_at(&format!("{pointer}/{index}"))).collect())
    }

    /// A whole number from 1 on.
    pub(super) fn read_positive_count(&mut self, pointer: &str) -> Option<u64> {
        match self.value_at_pointer(pointer)?.as_u64() {
            Some(count) if count > 0 => Some(count),
            _ => self.report_finding_at(pointer, "it is not a whole number, 1 or more"),
        }
    }

    /// An amount of money.
    pub(super) fn read_money_amount(&mut self, pointer: &str) -> Option<f64> {
        match self.value_at_pointer(pointer)?.as_f64() {
            Some(amount) if amount > 0.0 && amount.is_finite() => Some(amount),
            _ => self.report_finding_at(pointer, "it is not a number above 0"),
        }
    }

    pub(super) fn report_finding_at<T>(&mut self, pointer: &str, message: impl Into<String>) -> Option<T> {
        let finding = self.finding_at_pointer(pointer, message);
        self.findings.push(finding);
        None
    }

    pub(super) fn finding_at_pointer(&self, pointer: &str, message: impl Into<String>) -> Finding {
        let finding = Finding::error_finding(message)
            .located_in_file(self.file)
            .located_at_line(self.located.line_of_pointer(pointer));
        finding.located_at_key(pointer_to_dotted_path(pointer))
    }
}

/// A JSON pointer as people write it: `skills[0].name`.
pub(super) fn pointer_to_dotted_path(pointer: &str) -> String {
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
pub(super) fn escape_pointer_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
