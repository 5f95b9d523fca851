//! Whether expressions, patterns and schemas in a file can be used at all.

use std::panic::catch_unwind;

use serde_json::Value;

use super::file_value::FileValue;
use crate::cel_expression::find_expression_error;
use crate::compile_error::CompileError;
use crate::schema_validation::find_schema_error;

/// Checks that a CEL expression can be evaluated.
pub(super) fn check_cel_expression(text: &str) -> Result<(), CompileError> {
    if text.trim().is_empty() {
        return Err(CompileError::from("it is empty".to_owned()));
    }
    // The parser is generated code that may panic on unexpected input.
    match catch_unwind(|| find_expression_error(text)) {
        Ok(None) => Ok(()),
        Ok(Some(flaw)) => Err(flaw),
        Err(_) => Err(CompileError::from(format!("`{text}` is no CEL expression"))),
    }
}

impl<'v> FileValue<'v> {
    /// The text of a CEL expression.
    pub(super) fn expect_cel_expression(&self) -> Option<&'v str> {
        let text = self.expect_text()?;
        if let Err(flaw) = check_cel_expression(text) {
            self.report_with_suggestion(flaw.reason, flaw.suggestion.as_deref());
            return None;
        }
        Some(text)
    }

    /// A JSON Schema that can be used.
    pub(super) fn expect_json_schema(&self) -> Option<&'v Value> {
        if !self.value.is_object() && !self.value.is_boolean() {
            self.report_expected_kind("a JSON Schema");
            return None;
        }
        if let Some(reason) = find_schema_error(self.value) {
            self.report_finding(format!("this is no JSON Schema that can be used: {reason}"));
            return None;
        }
        Some(self.value)
    }

    /// Whether a pattern can be used, by the check of its user.
    pub(super) fn check_regex_pattern(&self, pattern: &str, check: fn(&str) -> Option<String>) -> bool {
        let Some(reason) = check(pattern) else { return true };
        // The lines before the last one draw the pattern with a mark below it.
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        self.report_unsupported_construct(format!("the pattern cannot be used: {reason}"));
        false
    }
}
