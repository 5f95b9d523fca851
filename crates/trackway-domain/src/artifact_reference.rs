//! How an artifact is found: by its filename, in a scope, at a version.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize};

use crate::{ArtifactId, Caller, ParseIdError, RunId, Seq, SessionId, ids::is_bidi_control};

/// As long as the names of files on the usual file systems, so that every artifact can be saved as a file.
/// Limit (Artifacts): filename of an artifact.
pub const ARTIFACT_FILENAME_BYTES_MAX: usize = 255;

/// The name of an artifact: a filename without a folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactFilename(Arc<str>);

impl ArtifactFilename {
    /// Blanks around the name are not part of it.
    pub fn new(text: &str) -> Result<Self, ParseIdError> {
        let bad =
            |why| ParseIdError { kind: "artifact filename", text: text.chars().take(64).collect(), why };
        let name = text.trim();
        if name.is_empty() {
            return Err(bad("it is empty"));
        }
        if name.len() > ARTIFACT_FILENAME_BYTES_MAX {
            return Err(bad("it is longer than 255 bytes"));
        }
        if matches!(name, "." | "..") {
            return Err(bad("it is the name of a folder"));
        }
        if name.chars().any(|c| matches!(c, '/' | '\\')) {
            return Err(bad("it contains a slash; an artifact is not in a folder"));
        }
        if name.chars().any(is_unprintable) {
            return Err(bad("it contains control characters"));
        }
        Ok(Self(name.into()))
    }

    /// A name that is as close as possible to a text that others chose: what a filename must not contain is
    /// replaced by `_`.
    pub fn from_text_lossy(text: &str) -> Self {
        let unsafe_character = |c: char| matches!(c, '/' | '\\') || is_unprintable(c);
        let replaced: String =
            text.trim().chars().map(|c| if unsafe_character(c) { '_' } else { c }).collect();
        let kept = &replaced[..replaced.floor_char_boundary(ARTIFACT_FILENAME_BYTES_MAX)];
        match kept.trim() {
            "" | "." | ".." => Self("artifact".into()),
            name => Self(name.into()),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What follows the last dot, in lower case; `None` for names such as `notes` or `.hidden`.
    pub fn extension(&self) -> Option<String> {
        let (stem, extension) = self.0.rsplit_once('.')?;
        (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_ascii_lowercase())
    }
}

fn is_unprintable(c: char) -> bool {
    c.is_control() || is_bidi_control(c)
}

impl fmt::Display for ArtifactFilename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ArtifactFilename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl FromStr for ArtifactFilename {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        Self::new(text)
    }
}

impl TryFrom<String> for ArtifactFilename {
    type Error = ParseIdError;

    fn try_from(text: String) -> Result<Self, ParseIdError> {
        Self::new(&text)
    }
}

impl From<ArtifactFilename> for String {
    fn from(filename: ArtifactFilename) -> Self {
        filename.0.as_ref().to_owned()
    }
}

/// Where an artifact's name is valid, and with what it is removed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ArtifactScope {
    /// In one run.
    Run(RunId),
    /// In all runs of a session.
    Session(SessionId),
    /// In everything that its owner does, and for nobody else.
    User,
    /// For every user of the tenant.
    Tenant,
}

/// A scope without the run or session that it is the scope of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArtifactScopeKind {
    Run,
    Session,
    User,
    Tenant,
}

impl ArtifactScope {
    pub const fn kind(&self) -> ArtifactScopeKind {
        match self {
            Self::Run(_) => ArtifactScopeKind::Run,
            Self::Session(_) => ArtifactScopeKind::Session,
            Self::User => ArtifactScopeKind::User,
            Self::Tenant => ArtifactScopeKind::Tenant,
        }
    }
}

impl ArtifactScopeKind {
    /// In the order in which a name is looked up: the narrowest first.
    pub const ALL: [Self; 4] = [Self::Run, Self::Session, Self::User, Self::Tenant];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Session => "session",
            Self::User => "user",
            Self::Tenant => "tenant",
        }
    }
}

impl fmt::Display for ArtifactScopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ArtifactScopeKind {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| ParseIdError {
            kind: "artifact scope",
            text: text.chars().take(64).collect(),
            why: "it must be run, session, user or tenant",
        })
    }
}

/// An artifact as a message refers to it. Who may read it depends on the reader, never on the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactReference {
    pub filename: ArtifactFilename,
    /// The newest if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_version")]
    pub version: Option<u32>,
}

/// Other languages write 2 as 2.0.
fn deserialize_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(deserializer)? else { return Ok(None) };
    let invalid = || serde::de::Error::custom(format!("{number} is not a version: it must be 0, 1, 2, …"));
    let version = number.as_u64().or_else(|| {
        let whole =
            number.as_f64().filter(|it| it.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(it));
        whole.map(|it| it as u64)
    });
    u32::try_from(version.ok_or_else(invalid)?).map(Some).map_err(|_| invalid())
}

/// What the index of artifacts learns from one event: a new version, or more of the newest one.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactIndexEntry {
    /// Owner and session of the run.
    pub owner: Caller,
    pub session: SessionId,
    /// The event with the content, in the log of the run that the entry goes with.
    pub seq: Seq,
    pub filename: ArtifactFilename,
    pub media_type: String,
    /// Bytes of the content; of the added content if it grows.
    pub size_bytes: u64,
    pub source: ArtifactEntrySource,
}

/// The part of an event that an entry of the index is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactEntrySource {
    /// The run yielded it.
    Yielded {
        artifact: ArtifactId,
        /// It extends the run's newest version of that artifact.
        grows: bool,
    },
    /// A user's message had a file; the number counts the parts of the message from 0.
    Attachment { part: u32 },
}

#[cfg(test)]
mod tests;
