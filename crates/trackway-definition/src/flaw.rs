//! Why an expression or a template can never be used, whatever the context is.

/// What is wrong with it, and what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) reason: String,
    pub(crate) meant: Option<String>,
}

impl From<String> for Flaw {
    fn from(reason: String) -> Self {
        Self { reason, meant: None }
    }
}
