//! Whether expressions, patterns and schemas that a file holds can be used at all.

#[cfg(test)]
mod tests;

use std::panic::catch_unwind;

use serde_json::Value;

use super::cursor::At;

/// Longer expressions are programs, which belong elsewhere; this also bounds the parser's depth.
const LONGEST_EXPRESSION: usize = 2000;

/// The parser goes down the stack for each of these, which nothing else bounds.
const DEEPEST_EXPRESSION: usize = 8;

/// Operators in a row make a tree of that depth.
const MOST_OPERATORS: usize = 100;

/// A CEL expression that parses, or why it does not.
pub(crate) fn expression(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the expression is empty".to_owned());
    }
    if text.len() > LONGEST_EXPRESSION {
        return Err(format!("the expression is longer than {LONGEST_EXPRESSION} bytes"));
    }
    if !shallow(text) {
        return Err("the expression is nested too deeply".to_owned());
    }
    // The parser is a generated one that may panic on input it does not expect.
    match catch_unwind(|| cel::Program::compile(text).map(drop).map_err(|e| e.to_string())) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(reason)) => Err(reason),
        Err(_) => Err("the parser gave up on the expression".to_owned()),
    }
}

/// Whether a parser that goes down the stack for each level gets through it. Depth is estimated from
/// above: brackets, choices, negations in a row; what stands in quotes is counted too.
pub(super) fn shallow(text: &str) -> bool {
    let (mut open, mut deepest, mut operators, mut row) = (0_usize, 0, 0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'?' => {
                open += 1;
                operators += 1;
            }
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'.' | b'&' | b'|'
            | b'~' => {
                operators += 1;
            }
            _ => {}
        }
        row = match byte {
            b'-' | b'!' => row + 1,
            b' ' | b'\t' | b'\n' | b'\r' => row,
            _ => 0,
        };
        deepest = deepest.max(open + row);
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for word in words {
        match word {
            "not" | "else" => deepest += 1,
            "and" | "or" | "in" | "is" | "if" => operators += 1,
            _ => {}
        }
    }
    deepest <= DEEPEST_EXPRESSION && operators <= MOST_OPERATORS
}

impl<'v> At<'v> {
    /// The text of a CEL expression.
    pub(super) fn cel(&self) -> Option<&'v str> {
        let text = self.text()?;
        if let Err(reason) = expression(text) {
            self.fault(format!("this is no CEL expression: {reason}"));
            return None;
        }
        Some(text)
    }

    /// A JSON Schema that can be used.
    pub(super) fn schema(&self) -> Option<&'v Value> {
        if !self.value.is_object() && !self.value.is_boolean() {
            self.expected("a JSON Schema");
            return None;
        }
        if let Err(error) = jsonschema::validator_for(self.value) {
            self.fault(format!("this is no JSON Schema: {error}"));
            return None;
        }
        Some(self.value)
    }

    /// A pattern that can be matched in linear time.
    pub(super) fn pattern(&self, flags: &str) -> Option<String> {
        let text = self.text()?;
        let pattern = if flags.is_empty() { text.to_owned() } else { format!("(?{flags}){text}") };
        if let Err(error) = regex::Regex::new(&pattern) {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            self.beyond(format!("the pattern cannot be matched in linear time: {reason}"));
            return None;
        }
        Some(pattern)
    }
}
