//! Findings about a workspace: each with its file, line and key, and what to do about it.

use std::{fmt, path::Path};

use serde::Serialize;

use super::WorkspaceError;

/// One thing that is wrong, suspicious or unused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub level: FindingLevel,
    /// The file; none for a finding that is not about a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `models.fast.api_key`, `skills[0].name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// How much a finding matters, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// The workspace cannot be used like this.
    Error,
    /// It can be used, but is probably not what the author meant.
    Warning,
    /// Nothing uses it.
    Unused,
    /// Good to know.
    Note,
}

impl Finding {
    pub fn new(level: FindingLevel, message: impl Into<String>) -> Self {
        Self { level, file: None, line: None, key: None, message: message.into(), suggestion: None }
    }

    pub fn error_finding(message: impl Into<String>) -> Self {
        Self::new(FindingLevel::Error, message)
    }

    #[must_use]
    pub fn located_in_file(mut self, file: &Path) -> Self {
        self.file = Some(file.display().to_string());
        self
    }

    #[must_use]
    pub fn located_at_line(mut self, line: Option<u32>) -> Self {
        self.line = line;
        self
    }

    #[must_use]
    pub fn located_at_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into()).filter(|key| !key.is_empty());
        self
    }

    #[must_use]
    pub fn with_suggestion(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Adds a suggestion, if a known name is similar.
    #[must_use]
    pub fn with_nearest_name_suggestion(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(meant) => self.with_suggestion(format!("did you mean {meant:?}?")),
            None => self,
        }
    }

    pub fn is_error_level(&self) -> bool {
        self.level == FindingLevel::Error
    }
}

/// `agents/a.md, line 3: tools[0]: there is no such tool`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}")?;
            if let Some(line) = self.line {
                write!(f, ", line {line}")?;
            }
            write!(f, ": ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        write!(f, "{}", self.message)
    }
}

impl fmt::Display for FindingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Unused => "unused",
            Self::Note => "note",
        })
    }
}

/// The errors among the findings; none if there are none.
pub fn error_from_findings(findings: &[Finding]) -> Option<WorkspaceError> {
    let errors: Vec<Finding> = findings.iter().filter(|finding| finding.is_error_level()).cloned().collect();
    (!errors.is_empty()).then_some(WorkspaceError::Findings(errors))
}
