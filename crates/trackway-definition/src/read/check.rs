//! Whether expressions, patterns and schemas that a file holds can be used at all.

use std::panic::catch_unwind;

use serde_json::Value;

use super::cursor::At;
use crate::expression::expression_fault;
use crate::flaw::Flaw;
use crate::schema::schema_fault;

/// A CEL expression that can be worked out, or why it never can.
pub(super) fn expression(text: &str) -> Result<(), Flaw> {
    if text.trim().is_empty() {
        return Err(Flaw::from("it is empty".to_owned()));
    }
    // The parser is a generated one that may panic on input it does not expect.
    match catch_unwind(|| expression_fault(text)) {
        Ok(None) => Ok(()),
        Ok(Some(flaw)) => Err(flaw),
        Err(_) => Err(Flaw::from(format!("`{text}` is no CEL expression"))),
    }
}

impl<'v> At<'v> {
    /// The text of a CEL expression.
    pub(super) fn cel(&self) -> Option<&'v str> {
        let text = self.text()?;
        if let Err(flaw) = expression(text) {
            self.suggest(flaw.reason, flaw.meant.as_deref());
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
        if let Some(reason) = schema_fault(self.value) {
            self.fault(format!("this is no JSON Schema that can be used: {reason}"));
            return None;
        }
        Some(self.value)
    }

    /// A pattern that can be used, by what would use it.
    pub(super) fn pattern(&self, pattern: &str, fault: fn(&str) -> Option<String>) -> bool {
        let Some(reason) = fault(pattern) else { return true };
        // The lines before the last one draw the pattern with a mark below it.
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        self.beyond(format!("the pattern cannot be used: {reason}"));
        false
    }
}
