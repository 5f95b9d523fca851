//! What somebody should know about a workspace: each thing with its file, line and key, and what to do
//! about it.

use std::{fmt, path::Path};

use serde::Serialize;

use crate::{exit::Exit, failure::Failure};

/// One thing that is wrong, odd or unused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    /// Where it stands; none for what is not in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    /// `models.fast.api_key`, `skills[0].name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suggestion: Option<String>,
}

/// How much a finding matters, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Level {
    /// The workspace cannot be used like this.
    Error,
    /// It can be used, and is probably not what was meant.
    Warning,
    /// Nothing makes use of it.
    Unused,
    /// Good to know.
    Note,
}

impl Finding {
    pub(crate) fn new(level: Level, message: impl Into<String>) -> Self {
        Self { level, file: None, line: None, key: None, message: message.into(), suggestion: None }
    }

    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::new(Level::Error, message)
    }

    #[must_use]
    pub(crate) fn file(mut self, file: &Path) -> Self {
        self.file = Some(file.display().to_string());
        self
    }

    #[must_use]
    pub(crate) fn line(mut self, line: Option<u32>) -> Self {
        self.line = line;
        self
    }

    #[must_use]
    pub(crate) fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into()).filter(|key| !key.is_empty());
        self
    }

    #[must_use]
    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// With what may have been meant, where something is near.
    #[must_use]
    pub(crate) fn meant(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(meant) => self.suggest(format!("did you mean {meant:?}?")),
            None => self,
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        self.level == Level::Error
    }

    fn failure(&self) -> Failure {
        let failure = Failure::new(self.to_string()).exit(Exit::Usage);
        match &self.suggestion {
            Some(suggestion) => failure.hint(suggestion),
            None => failure,
        }
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

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Unused => "unused",
            Self::Note => "note",
        })
    }
}

/// The errors among findings, told together; nothing where there is none.
pub(crate) fn refusal(findings: &[Finding]) -> Option<Failure> {
    let mut errors = findings.iter().filter(|finding| finding.is_error());
    let first = errors.next()?.failure();
    Some(errors.fold(first, |failure, error| failure.also(error.failure())))
}
