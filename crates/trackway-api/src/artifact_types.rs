//! Artifacts as JSON: what the REST API sends, and what the command line prints.

use serde::{Deserialize, Serialize};
use trackway_artifacts::{ArtifactPage, StoredArtifact};
use trackway_domain::{ArtifactScope, ArtifactScopeKind, Object, RunId, SessionId};

/// One version of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactVersion {
    pub filename: String,
    pub version: u32,
    pub scope: ArtifactScopeKind,
    /// The session that it belongs to or was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The run that it belongs to, or that made or received it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    pub media_type: String,
    pub size_bytes: u64,
    /// SHA-256 of the content; absent if the content is in the log of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub created_at: String,
    pub tags: Vec<String>,
    pub metadata: Object,
}

/// A page of artifacts, each with its newest version, or of the versions of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArtifactList {
    pub items: Vec<ArtifactVersion>,
    /// Where the next page begins (`cursor`); null on the last one.
    pub next: Option<String>,
}

impl ArtifactVersion {
    /// The path and query with which the same caller reads it.
    pub fn address(&self) -> String {
        let mut query = vec![format!("version={}", self.version), format!("scope={}", self.scope)];
        match self.scope {
            ArtifactScopeKind::Run => query.extend(self.run_id.map(|run| format!("run={run}"))),
            ArtifactScopeKind::Session => {
                let session = self.session_id.as_ref();
                query.extend(session.map(|id| format!("session={}", escape_for_url(id.as_str()))));
            }
            ArtifactScopeKind::User | ArtifactScopeKind::Tenant => {}
        }
        format!("/api/artifacts/{}?{}", escape_for_url(&self.filename), query.join("&"))
    }
}

/// The text as a segment or value of a URL.
pub(super) fn escape_for_url(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(byte.into());
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

impl From<StoredArtifact> for ArtifactVersion {
    fn from(stored: StoredArtifact) -> Self {
        let (run, session) = match &stored.scope {
            ArtifactScope::Run(run) => (Some(*run), stored.session),
            ArtifactScope::Session(session) => (stored.run, Some(session.clone())),
            ArtifactScope::User | ArtifactScope::Tenant => (stored.run, stored.session),
        };
        Self {
            filename: stored.filename.into(),
            version: stored.version,
            scope: stored.scope.kind(),
            session_id: session,
            run_id: run,
            media_type: stored.media_type,
            size_bytes: stored.size_bytes,
            sha256: stored.sha256.map(|hash| hash.to_string()),
            created_at: stored.created_at.to_string(),
            tags: stored.tags,
            metadata: stored.metadata,
        }
    }
}

impl From<ArtifactPage> for ArtifactList {
    fn from(page: ArtifactPage) -> Self {
        Self {
            items: page.items.into_iter().map(ArtifactVersion::from).collect(),
            next: page.next.map(|cursor| cursor.0.to_string()),
        }
    }
}
