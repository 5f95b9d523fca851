//! Whether expressions, patterns and schemas that a file holds can be used at all.

use std::panic::catch_unwind;

use serde_json::Value;

use super::cursor::At;

/// Longer expressions are programs, which belong elsewhere; this also bounds the parser's depth.
const LONGEST_EXPRESSION: usize = 2000;

/// The parser goes down the stack for each of these, which nothing else bounds.
const DEEPEST_EXPRESSION: usize = 24;

/// Operators in a row make a tree of that depth.
const MOST_OPERATORS: usize = 200;

/// A CEL expression that parses, or why it does not.
pub(crate) fn expression(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the expression is empty".to_owned());
    }
    if text.len() > LONGEST_EXPRESSION {
        return Err(format!("the expression is longer than {LONGEST_EXPRESSION} bytes"));
    }
    let (depth, operators) = measure(text);
    if depth > DEEPEST_EXPRESSION || operators > MOST_OPERATORS {
        return Err("the expression is nested too deeply".to_owned());
    }
    // The parser is a generated one that may panic on input it does not expect.
    match catch_unwind(|| cel::Program::compile(text).map(drop).map_err(|e| e.to_string())) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(reason)) => Err(reason),
        Err(_) => Err("the parser gave up on the expression".to_owned()),
    }
}

/// How deep brackets and choices go, and how many operators there are; an estimate from above, as what
/// stands in quotes is counted too.
fn measure(text: &str) -> (usize, usize) {
    let (mut depth, mut deepest, mut operators) = (0_usize, 0, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'?' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'.' | b'&' | b'|' => {
                operators += 1;
            }
            _ => {}
        }
    }
    (deepest, operators)
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
