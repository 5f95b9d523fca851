//! A file's text as a value, together with the line of every part of it.
//!
//! Both formats end in the same [`LocatedValue`]: a JSON value that the reader walks by JSON pointer, and the
//! lines for its findings. Lines are kept as a tree of the value's shape: a map from pointers would take
//! quadratic space.

mod located_json;
mod located_yaml;
#[cfg(test)]
mod tests;
mod yaml_scalar;

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::JSON_DEPTH_MAX;

use crate::{FileFormat, Finding};

/// Largest file that is read, in bytes. The largest known workflow has a tenth of it; a larger file is data
/// in the wrong folder.
/// Limit (Definitions): bytes of one definition file.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

/// A file's value, and the line of each part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedValue {
    pub value: Value,
    locations: ValueLocation,
}

impl LocatedValue {
    /// The line, from 1, of what a JSON pointer names: of its key if it has one. If it does not exist, the
    /// line of the innermost existing parent.
    pub fn line_of_pointer(&self, pointer: &str) -> Option<u32> {
        let mut location = &self.locations;
        if pointer.is_empty() {
            return Some(location.line);
        }
        for token in pointer.strip_prefix('/')?.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            let Some(inner) = location.inner.location_of_token(&token) else { break };
            location = inner;
        }
        Some(location.line)
    }
}

/// Parses a text. The first error that stops the parser is the finding.
pub fn parse_located(text: &str, format: FileFormat) -> Result<LocatedValue, Finding> {
    if text.len() > FILE_BYTES_MAX {
        return Err(Finding::new("", format!("the file is larger than {FILE_BYTES_MAX} bytes")));
    }
    // Some editors begin a file with this mark; it has no meaning.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let located = match format {
        FileFormat::Json => located_json::parse_json(text)?,
        FileFormat::Yaml => located_yaml::parse_yaml(text)?,
    };
    if let Some(mut segments) = find_inexact_number(&located.value) {
        segments.reverse();
        let path = join_pointer(segments.iter().map(String::as_str));
        let line = located.line_of_pointer(&path).unwrap_or(1);
        return Err(finding_at(path, line, "a number this large is not kept exactly")
            .with_suggestion("write it as a text, in quotes"));
    }
    Ok(located)
}

/// The path, from its end, to a whole number that the normal form would change: there, as in all JSON,
/// numbers are doubles, and two different definitions would have the same hash.
fn find_inexact_number(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Number(number) => {
            let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from))?;
            ((whole as f64) as i128 != whole).then(Vec::new)
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            find_inexact_number(item).map(|mut segments| {
                segments.push(index.to_string());
                segments
            })
        }),
        Value::Object(entries) => entries.iter().find_map(|(key, entry)| {
            find_inexact_number(entry).map(|mut segments| {
                segments.push(key.clone());
                segments
            })
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// The line where a value begins, and those of its parts.
#[derive(Debug, Clone, PartialEq, Default)]
struct ValueLocation {
    line: u32,
    inner: InnerLocations,
}

impl ValueLocation {
    fn location_at_line(line: u32) -> Self {
        Self { line, inner: InnerLocations::Nothing }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
enum InnerLocations {
    #[default]
    Nothing,
    Items(Vec<ValueLocation>),
    Entries(BTreeMap<String, ValueLocation>),
}

impl InnerLocations {
    fn location_of_token(&self, token: &str) -> Option<&ValueLocation> {
        match self {
            Self::Nothing => None,
            Self::Items(items) => items.get(token.parse::<usize>().ok()?),
            Self::Entries(entries) => entries.get(token),
        }
    }
}

/// JSON pointer of a path of keys and indexes.
fn join_pointer<'a>(segments: impl IntoIterator<Item = &'a str>) -> String {
    let mut pointer = String::new();
    for token in segments {
        pointer.push('/');
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    }
    pointer
}

fn finding_at(path: String, line: u32, message: impl Into<String>) -> Finding {
    Finding { line: Some(line), ..Finding::new(path, message) }
}

fn too_deep_finding(path: String, line: u32) -> Finding {
    finding_at(path, line, format!("the file is nested deeper than {JSON_DEPTH_MAX} levels"))
}

fn repeated_key_finding(path: String, line: u32, key: &str, first: u32) -> Finding {
    finding_at(path, line, format!("the key {key:?} is given twice; the first time on line {first}"))
        .with_suggestion("keep one of the two")
}

/// A line number as findings count it.
fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}
