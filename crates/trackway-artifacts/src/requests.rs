//! What callers ask of the service.

use bytes::Bytes;
use trackway_domain::{ArtifactFilename, ArtifactScope, ArtifactScopeKind, Object, RunId, SessionId};
use trackway_ports::ArtifactCursor;

use crate::StoredArtifact;

/// Content to save as the next version of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct NewArtifact {
    pub filename: ArtifactFilename,
    pub scope: ArtifactScope,
    /// Recognised by the filename or the content if it is absent.
    pub media_type: Option<String>,
    pub bytes: Bytes,
    pub tags: Vec<String>,
    pub metadata: Object,
    /// The run that makes it, if its scope does not say so.
    pub run: Option<RunId>,
    /// A repetition with the same id is the same version.
    pub request_id: Option<String>,
    /// Only if the artifact has no version yet.
    pub only_if_absent: bool,
}

impl NewArtifact {
    pub fn new(filename: ArtifactFilename, scope: ArtifactScope, bytes: impl Into<Bytes>) -> Self {
        Self {
            filename,
            scope,
            media_type: None,
            bytes: bytes.into(),
            tags: Vec::new(),
            metadata: Object::new(),
            run: None,
            request_id: None,
            only_if_absent: false,
        }
    }
}

/// A name to look up: in the run, then in the session, then among the user's artifacts, then among the tenant's.
/// A run or session that is not given is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactLookup {
    pub filename: ArtifactFilename,
    pub run: Option<RunId>,
    pub session: Option<SessionId>,
    /// Only in this scope.
    pub scope: Option<ArtifactScopeKind>,
    /// The newest if it is absent. The first scope that has the name decides: an older version is not looked for
    /// in a wider scope.
    pub version: Option<u32>,
}

impl ArtifactLookup {
    /// The newest of that name among the user's and the tenant's artifacts.
    pub const fn new(filename: ArtifactFilename) -> Self {
        Self { filename, run: None, session: None, scope: None, version: None }
    }

    /// The scopes to look in, in order.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = ArtifactScope> {
        let all = [
            self.run.map(ArtifactScope::Run),
            self.session.clone().map(ArtifactScope::Session),
            Some(ArtifactScope::User),
            Some(ArtifactScope::Tenant),
        ];
        let only = self.scope;
        all.into_iter().flatten().filter(move |scope| only.is_none_or(|only| scope.kind() == only))
    }
}

/// Which artifacts to list. `None` means any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactListQuery {
    pub scope: Option<ArtifactScopeKind>,
    /// Only what was made in this session.
    pub session: Option<SessionId>,
    /// Only what this run made or received.
    pub run: Option<RunId>,
    /// Only filenames that begin so.
    pub prefix: Option<String>,
    /// Only artifacts whose newest version has this tag.
    pub tag: Option<String>,
    /// The `next` of the page before.
    pub after: Option<ArtifactCursor>,
    pub limit: usize,
}

impl ArtifactListQuery {
    /// The first page of everything.
    pub const fn new(limit: usize) -> Self {
        Self { scope: None, session: None, run: None, prefix: None, tag: None, after: None, limit }
    }
}

/// A page of artifacts, or of the versions of one.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactPage {
    pub items: Vec<StoredArtifact>,
    /// Where the next page starts; `None` if this is the last.
    pub next: Option<ArtifactCursor>,
}
