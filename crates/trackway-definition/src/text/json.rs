//! JSON: `serde_json` reads the value, a second walk over the same text finds the lines.
//!
//! The walk relies on the text being valid JSON, which the first reading has shown. It also finds keys
//! that are given twice, of which `serde_json` silently keeps the last.

use std::collections::{BTreeMap, btree_map::Entry};

use trackway_domain::JSON_DEPTH_MAX;

use super::{Inner, Located, Place, fault, line_number, pointer, repeated, too_deep};
use crate::Fault;

pub(super) fn locate(text: &str) -> Result<Located, Fault> {
    let value = serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
    let places = Walk { text, at: 0, line: 1, way: Vec::new() }.value()?;
    Ok(Located { value, places })
}

fn unreadable(text: &str, error: &serde_json::Error) -> Fault {
    let line = line_number(error.line().max(1));
    if text.trim().is_empty() {
        return fault(String::new(), 1, "the file is empty");
    }
    let message = error.to_string();
    // Its message ends with the place, which a fault says in its own way.
    let message = message.split(" at line ").next().unwrap_or(&message);
    if message.starts_with("recursion limit") {
        return too_deep(String::new(), line);
    }
    let column = error.column();
    fault(String::new(), line, format!("this is not JSON: {message} (column {column})"))
}

/// A walk over text that is known to be JSON.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    way: Vec<String>,
}

impl Walk<'_> {
    /// The place of the value that comes next. Its depth is bounded by the first reading.
    fn value(&mut self) -> Result<Place, Fault> {
        self.skip_space();
        let line = self.line;
        let inner = match self.peek() {
            Some(b'{') => self.entries()?,
            Some(b'[') => self.items()?,
            Some(b'"') => {
                self.string();
                Inner::Nothing
            }
            _ => {
                self.skip_while(|byte| !matches!(byte, b',' | b']' | b'}') && !is_space(byte));
                Inner::Nothing
            }
        };
        Ok(Place { line, inner })
    }

    fn entries(&mut self) -> Result<Inner, Fault> {
        let mut entries = BTreeMap::new();
        self.enter()?;
        while self.comes(b'"') {
            let line = self.line;
            let key = self.string();
            self.skip_space();
            self.at += 1; // The colon.
            self.way.push(key.clone());
            let place = Place { line, ..self.value()? };
            match entries.entry(key) {
                Entry::Vacant(free) => free.insert(place),
                Entry::Occupied(first) => {
                    return Err(repeated(self.path(), line, first.key(), first.get().line));
                }
            };
            self.way.pop();
            self.skip_comma();
        }
        self.at += 1; // The closing brace.
        Ok(Inner::Entries(entries))
    }

    fn items(&mut self) -> Result<Inner, Fault> {
        let mut items = Vec::new();
        self.enter()?;
        while !self.comes(b']') && self.at < self.text.len() {
            self.way.push(items.len().to_string());
            items.push(self.value()?);
            self.way.pop();
            self.skip_comma();
        }
        self.at += 1; // The closing bracket.
        Ok(Inner::Items(items))
    }

    /// Past an opening brace or bracket.
    fn enter(&mut self) -> Result<(), Fault> {
        self.at += 1;
        // The value that is entered counts as a level, as it does for values that come over the wire.
        if self.way.len() + 1 >= JSON_DEPTH_MAX {
            return Err(too_deep(self.path(), self.line));
        }
        Ok(())
    }

    /// The string that begins here, with its escapes resolved.
    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            // After a backslash, whatever it is, the next byte does not end the string.
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(quoted).unwrap_or_default()
    }

    fn comes(&mut self, byte: u8) -> bool {
        self.skip_space();
        self.peek() == Some(byte)
    }

    fn skip_comma(&mut self) {
        if self.comes(b',') {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        let from = self.at;
        self.skip_while(is_space);
        // Only space holds line breaks: in a string of JSON they are escaped.
        let space = &self.text.as_bytes()[from..self.at];
        let breaks = space.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(line_number(breaks));
    }

    fn skip_while(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn path(&self) -> String {
        pointer(self.way.iter().map(String::as_str))
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
