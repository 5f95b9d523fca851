//! A file's text as a value, together with the line of every place in it.
//!
//! Both formats end in the same [`Located`]: a JSON value that the reader walks by JSON pointer, and the
//! lines that its faults name. Lines are kept as a tree of the value's shape: as a map from pointers they
//! would take space in the square of the file's size.

mod json;
#[cfg(test)]
mod tests;
mod yaml;
mod yaml_scalar;

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::JSON_DEPTH_MAX;

use crate::{FileFormat, Finding};

/// Largest file that is read, in bytes. The largest known workflow has a tenth of it; beyond it, a file
/// is data that was put into the wrong folder.
/// Limit (Definitions): bytes of one definition file.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

/// A file's value, and where each part of it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedValue {
    pub value: Value,
    locations: Location,
}

impl LocatedValue {
    /// The line, from 1, of what a JSON pointer names: of its key where it has one. For something that is
    /// not there, the line of the innermost thing around it.
    pub fn line_of(&self, pointer: &str) -> Option<u32> {
        let mut place = &self.locations;
        if pointer.is_empty() {
            return Some(place.line);
        }
        for token in pointer.strip_prefix('/')?.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            let Some(inner) = place.inner.get(&token) else { break };
            place = inner;
        }
        Some(place.line)
    }
}

/// Reads a text. The first thing that keeps it from being read is the fault.
pub fn parse_located(text: &str, format: FileFormat) -> Result<LocatedValue, Finding> {
    if text.len() > FILE_BYTES_MAX {
        return Err(Finding::new("", format!("the file is larger than {FILE_BYTES_MAX} bytes")));
    }
    // Some editors begin a file with this mark, and it means nothing.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let located = match format {
        FileFormat::Json => json::parse_json(text)?,
        FileFormat::Yaml => yaml::parse_yaml(text)?,
    };
    if let Some(mut way) = find_inexact_number(&located.value) {
        way.reverse();
        let path = join_pointer(way.iter().map(String::as_str));
        let line = located.line_of(&path).unwrap_or(1);
        return Err(finding_at(path, line, "a number this large is not kept exactly")
            .with_suggestion("write it as a text, in quotes"));
    }
    Ok(located)
}

/// The way, from its end, to a whole number that the normal form would change: there, as everywhere in
/// JSON, numbers are doubles, and two definitions that differ would have one hash.
fn find_inexact_number(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Number(number) => {
            let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from))?;
            ((whole as f64) as i128 != whole).then(Vec::new)
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            find_inexact_number(item).map(|mut way| {
                way.push(index.to_string());
                way
            })
        }),
        Value::Object(entries) => entries.iter().find_map(|(key, entry)| {
            find_inexact_number(entry).map(|mut way| {
                way.push(key.clone());
                way
            })
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// Where a value begins, and the same of what is inside it.
#[derive(Debug, Clone, PartialEq, Default)]
struct Location {
    line: u32,
    inner: InnerLocations,
}

impl Location {
    fn at_line(line: u32) -> Self {
        Self { line, inner: InnerLocations::Nothing }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
enum InnerLocations {
    #[default]
    Nothing,
    Items(Vec<Location>),
    Entries(BTreeMap<String, Location>),
}

impl InnerLocations {
    fn get(&self, token: &str) -> Option<&Location> {
        match self {
            Self::Nothing => None,
            Self::Items(items) => items.get(token.parse::<usize>().ok()?),
            Self::Entries(entries) => entries.get(token),
        }
    }
}

/// JSON pointer of a way of keys and indices.
fn join_pointer<'a>(way: impl IntoIterator<Item = &'a str>) -> String {
    let mut pointer = String::new();
    for token in way {
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

/// A place in a text as our faults count it.
fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}
