//! The result of a call, as the model gets it.

use serde_json::{Value, json};
use trackway_domain::{Failure, ValidationError};
use trackway_runtime::ToolOutput;

/// Longest text of a remote agent in a result.
/// Limit (Mesh): message in the result of a call, in characters.
const MESSAGE_CHARS_MAX: usize = 16 * 1024;

/// A call that ended: `status`, `message`, `artifacts`, `ignored` and `errors`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallResult {
    /// The remote's final state, or `invalid_input`, or `error`.
    status: &'static str,
    message: String,
    pub(super) artifacts: Vec<Value>,
    ignored: Vec<String>,
    errors: Vec<ValidationError>,
}

impl CallResult {
    /// The remote task ended in this state.
    pub(super) fn ended(state: &'static str, message: &str) -> Self {
        let message = shorten(message);
        Self { status: state, message, artifacts: Vec::new(), ignored: Vec::new(), errors: Vec::new() }
    }

    /// The call could not be made, or its outcome is not known.
    pub(super) fn error(message: impl AsRef<str>) -> Self {
        Self::ended("error", message.as_ref())
    }

    /// Nothing was sent, since the arguments do not fit.
    pub(super) fn invalid_input(errors: Vec<ValidationError>) -> Self {
        let each: Vec<String> = errors.iter().map(ValidationError::format_validation_error).collect();
        let message = format!("The input does not fit: {}. Nothing was called.", each.join("; "));
        Self { errors, ..Self::ended("invalid_input", &message) }
    }

    /// With the parameters that were given beside an artifact.
    pub(super) fn with_ignored(self, ignored: Vec<String>) -> Self {
        Self { ignored, ..self }
    }

    pub(super) fn into_output(self) -> Result<ToolOutput, Failure> {
        let is_error = self.status != "completed";
        let Self { status, message, artifacts, ignored, errors } = self;
        let value = json!({
            "status": status,
            "message": message,
            "artifacts": artifacts,
            "ignored": ignored,
            "errors": errors,
        });
        Ok(ToolOutput { value, parts: Vec::new(), is_error })
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
