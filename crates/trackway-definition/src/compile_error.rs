//! Why an expression or a template can never be used, whatever the context is.

/// What is wrong with it, and what the author probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompileError {
    pub(crate) reason: String,
    pub(crate) suggestion: Option<String>,
}

impl From<String> for CompileError {
    fn from(reason: String) -> Self {
        Self { reason, suggestion: None }
    }
}
