//! JSON: `serde_json` reads the value, and a second pass over the same text finds the lines.
//!
//! The second pass relies on valid JSON, which the first pass has checked. It also finds duplicate keys;
//! `serde_json` silently keeps the last one.

use std::collections::{BTreeMap, btree_map::Entry};

use trackway_domain::JSON_DEPTH_MAX;

use super::{
    InnerLocations, LocatedValue, ValueLocation, finding_at, join_pointer, line_number, repeated_key_finding,
    too_deep_finding,
};
use crate::Finding;

pub(super) fn parse_json(text: &str) -> Result<LocatedValue, Finding> {
    let value = serde_json::from_str(text).map_err(|error| json_finding(text, &error))?;
    let places = JsonLineLocator { text, at: 0, line: 1, segments: Vec::new() }.locate_next_value()?;
    Ok(LocatedValue { value, locations: places })
}

fn json_finding(text: &str, error: &serde_json::Error) -> Finding {
    let line = line_number(error.line().max(1));
    if text.trim().is_empty() {
        return finding_at(String::new(), 1, "the file is empty");
    }
    let message = error.to_string();
    // Its message ends with the position, which a finding reports in its own way.
    let message = message.split(" at line ").next().unwrap_or(&message);
    if message.starts_with("recursion limit") {
        return too_deep_finding(String::new(), line);
    }
    let column = error.column();
    finding_at(String::new(), line, format!("this is not JSON: {message} (column {column})"))
}

/// A pass over text that is known to be JSON.
struct JsonLineLocator<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    segments: Vec<String>,
}

impl JsonLineLocator<'_> {
    /// The location of the next value. The first pass has checked its depth.
    fn locate_next_value(&mut self) -> Result<ValueLocation, Finding> {
        self.skip_space();
        let line = self.line;
        let inner = match self.peek_byte() {
            Some(b'{') => self.locate_entries()?,
            Some(b'[') => self.locate_items()?,
            Some(b'"') => {
                self.read_json_string();
                InnerLocations::Nothing
            }
            _ => {
                self.skip_while(|byte| !matches!(byte, b',' | b']' | b'}') && !is_space(byte));
                InnerLocations::Nothing
            }
        };
        Ok(ValueLocation { line, inner })
    }

    fn locate_entries(&mut self) -> Result<InnerLocations, Finding> {
        let mut entries = BTreeMap::new();
        self.enter_collection()?;
        while self.next_byte_is(b'"') {
            let line = self.line;
            let key = self.read_json_string();
            self.skip_space();
            self.at += 1; // The colon.
            self.segments.push(key.clone());
            let location = ValueLocation { line, ..self.locate_next_value()? };
            match entries.entry(key) {
                Entry::Vacant(free) => free.insert(location),
                Entry::Occupied(first) => {
                    return Err(repeated_key_finding(
                        self.current_json_pointer(),
                        line,
                        first.key(),
                        first.get().line,
                    ));
                }
            };
            self.segments.pop();
            self.skip_comma();
        }
        self.at += 1; // The closing brace.
        Ok(InnerLocations::Entries(entries))
    }

    fn locate_items(&mut self) -> Result<InnerLocations, Finding> {
        let mut items = Vec::new();
        self.enter_collection()?;
        while !self.next_byte_is(b']') && self.at < self.text.len() {
            self.segments.push(items.len().to_string());
            items.push(self.locate_next_value()?);
            self.segments.pop();
            self.skip_comma();
        }
        self.at += 1; // The closing bracket.
        Ok(InnerLocations::Items(items))
    }

    /// Moves past an opening brace or bracket.
    fn enter_collection(&mut self) -> Result<(), Finding> {
        self.at += 1;
        // The entered value counts as a level, as it does for values from the wire.
        if self.segments.len() + 1 >= JSON_DEPTH_MAX {
            return Err(too_deep_finding(self.current_json_pointer(), self.line));
        }
        Ok(())
    }

    /// The string that begins here, with its escapes resolved.
    fn read_json_string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek_byte() {
            // After a backslash, the next byte never ends the string.
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(quoted).unwrap_or_default()
    }

    fn next_byte_is(&mut self, byte: u8) -> bool {
        self.skip_space();
        self.peek_byte() == Some(byte)
    }

    fn skip_comma(&mut self) {
        if self.next_byte_is(b',') {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        let from = self.at;
        self.skip_while(is_space);
        // Line breaks are only in white space: in a JSON string they are escaped.
        let space = &self.text.as_bytes()[from..self.at];
        let breaks = space.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(line_number(breaks));
    }

    fn skip_while(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek_byte().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    fn peek_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn current_json_pointer(&self) -> String {
        join_pointer(self.segments.iter().map(String::as_str))
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
