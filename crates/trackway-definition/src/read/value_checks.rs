//! Whether expressions, patterns and schemas that a file holds can be used at all.

use std::panic::catch_unwind;

use serde_json::Value;

use super::file_value::FileValue;
use crate::compile_error::CompileError;
use crate::expression::expression_error;
use crate::schema::schema_fault;

/// A CEL expression that can be worked out, or why it never can.
pub(super) fn check_expression(text: &str) -> Result<(), CompileError> {
    if text.trim().is_empty() {
        return Err(CompileError::from("it is empty".to_owned()));
    }
    // The parser is a generated one that may panic on input it does not expect.
    match catch_unwind(|| expression_error(text)) {
        Ok(None) => Ok(()),
        Ok(Some(flaw)) => Err(flaw),
        Err(_) => Err(CompileError::from(format!("`{text}` is no CEL expression"))),
    }
}

impl<'v> FileValue<'v> {
    /// The text of a CEL expression.
    pub(super) fn expect_expression(&self) -> Option<&'v str> {
        let text = self.expect_text()?;
        if let Err(flaw) = check_expression(text) {
            self.report_with_suggestion(flaw.reason, flaw.suggestion.as_deref());
            return None;
        }
        Some(text)
    }

    /// A JSON Schema that can be used.
    pub(super) fn expect_schema(&self) -> Option<&'v Value> {
        if !self.value.is_object() && !self.value.is_boolean() {
            self.report_expected("a JSON Schema");
            return None;
        }
        if let Some(reason) = schema_fault(self.value) {
            self.report(format!("this is no JSON Schema that can be used: {reason}"));
            return None;
        }
        Some(self.value)
    }

    /// A pattern that can be used, by what would use it.
    pub(super) fn check_pattern(&self, pattern: &str, fault: fn(&str) -> Option<String>) -> bool {
        let Some(reason) = fault(pattern) else { return true };
        // The lines before the last one draw the pattern with a mark below it.
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        self.report_unsupported(format!("the pattern cannot be used: {reason}"));
        false
    }
}
