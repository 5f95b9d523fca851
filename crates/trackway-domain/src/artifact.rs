//! Artifacts: what a run produces.

use serde::{Deserialize, Serialize};

use crate::{ArtifactId, Object, ParseIdError, Part};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    pub id: ArtifactId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub metadata: Object,
}

/// An artifact as a workflow yields it: complete, or one piece of an artifact that grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArtifactChunk {
    pub artifact: Artifact,
    /// Extends the artifact of the same id instead of replacing it.
    #[serde(default)]
    pub append: bool,
    /// Nothing more will be appended.
    #[serde(default)]
    pub last: bool,
    /// The first text continues the last text before it: the two become one part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
}

impl Artifact {
    pub fn new(id: ArtifactId, parts: Vec<Part>) -> Self {
        Self { id, name: None, description: None, parts, metadata: Object::new() }
    }

    /// An artifact of one text.
    pub fn text(id: &str, text: impl Into<String>) -> Result<Self, ParseIdError> {
        Ok(Self::new(ArtifactId::new(id)?, vec![Part::text(text)]))
    }

    /// An artifact of one JSON value.
    pub fn data(id: &str, value: impl Into<serde_json::Value>) -> Result<Self, ParseIdError> {
        Ok(Self::new(ArtifactId::new(id)?, vec![Part::data(value)]))
    }

    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The first piece of an artifact that grows.
    pub fn begin(self) -> ArtifactChunk {
        ArtifactChunk { artifact: self, append: false, last: false, joined: false }
    }

    /// A further piece of it.
    pub fn extend(self) -> ArtifactChunk {
        ArtifactChunk { artifact: self, append: true, last: false, joined: false }
    }

    /// Its last piece.
    pub fn finish(self) -> ArtifactChunk {
        ArtifactChunk { artifact: self, append: true, last: true, joined: false }
    }
}

/// A whole artifact is its own first and last piece.
impl From<Artifact> for ArtifactChunk {
    fn from(artifact: Artifact) -> Self {
        Self { artifact, append: false, last: true, joined: false }
    }
}
