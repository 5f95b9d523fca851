//! The index of artifacts: every version of every artifact is a row.

use std::fmt;

use trackway_domain::{
    Access, ArtifactEntrySource, ArtifactFilename, ArtifactId, ArtifactIndexEntry, ArtifactScope,
    ArtifactScopeKind, Caller, Object, RunId, Seq, SessionId, Timestamp,
};

use crate::{BlobHash, PortFuture, ReadFuture};

/// One version of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactVersionRow {
    /// Who saved or attached it, or started the run that yielded it.
    pub owner: Caller,
    pub scope: ArtifactScope,
    pub filename: ArtifactFilename,
    /// 0 for the first.
    pub version: u32,
    pub media_type: String,
    pub size_bytes: u64,
    /// SHA-256 of the content; `None` while the content is in the events of a run.
    pub sha256: Option<BlobHash>,
    pub created_at: Timestamp,
    /// The run that made it, or received it.
    pub run: Option<RunId>,
    /// The session in which it was made.
    pub session: Option<SessionId>,
    pub tags: Vec<String>,
    pub metadata: Object,
    pub content: ArtifactContent,
    /// Its position in listings.
    pub cursor: ArtifactCursor,
}

/// The number of a version, and what else only the store knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextArtifactVersion {
    pub version: u32,
    pub cursor: ArtifactCursor,
    pub created_at: Timestamp,
}

impl ArtifactVersionRow {
    /// The version that an event of the run begins.
    pub fn from_index_entry(run: RunId, entry: &ArtifactIndexEntry, place: NextArtifactVersion) -> Self {
        let seq = entry.seq;
        let content = match &entry.source {
            // If the store does not know the beginning, it is searched for in the whole log.
            ArtifactEntrySource::Yielded { artifact, grows } => {
                let first = if *grows { 1 } else { seq };
                ArtifactContent::Yielded { run, artifact: artifact.clone(), first, last: seq }
            }
            ArtifactEntrySource::Attachment { part } => ArtifactContent::Attachment { run, seq, part: *part },
        };
        Self {
            owner: entry.owner.clone(),
            scope: ArtifactScope::Session(entry.session.clone()),
            filename: entry.filename.clone(),
            version: place.version,
            media_type: entry.media_type.clone(),
            size_bytes: entry.size_bytes,
            sha256: None,
            created_at: place.created_at,
            run: Some(run),
            session: Some(entry.session.clone()),
            tags: Vec::new(),
            metadata: Object::new(),
            content,
            cursor: place.cursor,
        }
    }

    /// The run has yielded more of it.
    pub fn grow(&mut self, entry: &ArtifactIndexEntry) {
        if let ArtifactContent::Yielded { last, .. } = &mut self.content {
            *last = entry.seq;
        }
        self.size_bytes += entry.size_bytes;
        // Several values are not one JSON text.
        if self.media_type == "application/json" {
            let is_json = entry.media_type.contains("json");
            self.media_type = if is_json { "application/x-ndjson" } else { "text/plain" }.to_owned();
        }
    }

    /// The artifact that it is a version of.
    pub fn key(&self) -> ArtifactKey {
        ArtifactKey { owner: self.owner.clone(), scope: self.scope.clone(), filename: self.filename.clone() }
    }
}

/// Where the content of a version is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactContent {
    /// In a blob.
    Blob(BlobHash),
    /// In the artifact events of a run, from `first` to `last`. Other events may be between them.
    Yielded { run: RunId, artifact: ArtifactId, first: Seq, last: Seq },
    /// In a file part of a message; the number counts the parts of the message from 0.
    Attachment { run: RunId, seq: Seq, part: u32 },
}

/// All versions of one artifact.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArtifactKey {
    /// In the scope of a tenant only the tenant counts: each user of it may add versions.
    pub owner: Caller,
    pub scope: ArtifactScope,
    pub filename: ArtifactFilename,
}

/// Content to save as the next version of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct NewArtifactVersion {
    pub key: ArtifactKey,
    /// The store keeps it as a blob. A blob that a version names is not removed before the version is.
    pub bytes: Vec<u8>,
    pub media_type: String,
    pub created_at: Timestamp,
    pub run: Option<RunId>,
    pub session: Option<SessionId>,
    pub tags: Vec<String>,
    pub metadata: Object,
    /// Chosen by the caller. If a version of this artifact was saved with the same id, it is the result, and
    /// nothing is written.
    pub request_id: Option<String>,
    /// Nothing is written if the artifact has a version that was saved with another request id.
    pub only_if_absent: bool,
}

/// What one owner may save, in all scopes together. Versions whose content is in events do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactQuota {
    pub bytes_max: u64,
    pub versions_max: u64,
}

impl ArtifactQuota {
    /// Whether an owner that has saved so much may save this too.
    pub const fn check(
        self,
        saved_bytes: u64,
        saved_versions: u64,
        new_bytes: u64,
    ) -> Result<(), ArtifactWriteError> {
        if saved_versions >= self.versions_max {
            let (used, max) = (saved_versions, self.versions_max);
            return Err(ArtifactWriteError::QuotaExceeded { used, max, unit: "versions" });
        }
        if saved_bytes.saturating_add(new_bytes) > self.bytes_max {
            let (used, max) = (saved_bytes, self.bytes_max);
            return Err(ArtifactWriteError::QuotaExceeded { used, max, unit: "bytes" });
        }
        Ok(())
    }
}

/// The search for one version of an artifact in one scope.
///
/// In the scope of a tenant every user of the tenant finds it. In the scope of a user only that user does. In
/// the scope of a run or session the access decides. If it covers several owners who have used the same session
/// id, the caller's own artifact is found, or else the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactVersionQuery {
    pub access: Access,
    pub scope: ArtifactScope,
    pub filename: ArtifactFilename,
    /// The newest if it is absent.
    pub version: Option<u32>,
}

/// Which artifacts a listing shows, of those that a query of their name would find. `None` means any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactFilter {
    pub access: Access,
    pub scope: Option<ArtifactScopeKind>,
    /// Only what was made in this session: its artifacts and those of its runs.
    pub session: Option<SessionId>,
    /// Only what this run made or received.
    pub run: Option<RunId>,
    /// Only filenames that begin so.
    pub prefix: Option<String>,
    /// Only artifacts whose newest version has this tag.
    pub tag: Option<String>,
}

impl ArtifactFilter {
    /// Everything that the caller may read.
    pub const fn new(access: Access) -> Self {
        Self { access, scope: None, session: None, run: None, prefix: None, tag: None }
    }
}

/// The position of a version in listings; a later version has a greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactCursor(pub u64);

/// Why artifacts were not written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ArtifactWriteError {
    /// The owner has used the quota up. Nothing was written.
    #[error("the artifacts of this owner have reached their quota: {used} of {max} {unit}")]
    QuotaExceeded { used: u64, max: u64, unit: &'static str },
    /// It was to be saved only if the artifact has no version, and it has one. Nothing was written.
    #[error("the artifact exists")]
    Exists,
    /// Try again: nothing was written, and a later attempt can succeed.
    #[error("the store cannot write now: {reason}")]
    Unavailable { reason: String },
    /// Unknown: the answer to the commit was lost. With the same `request_id` it can be tried again.
    #[error("it is not known whether the store has written it: {reason}")]
    Unknown { reason: String },
    /// Never: the store was closed before, and nothing was written.
    #[error("the store is closed")]
    Closed,
    /// Never: the store can no longer write.
    #[error("the store cannot write: {reason}")]
    Broken { reason: String },
}

/// An awaited write to the index.
pub type ArtifactWriteFuture<'a, T> = PortFuture<'a, Result<T, ArtifactWriteError>>;

/// The artifacts of a store. What runs yield and users attach comes with the append that records it
/// ([`crate::Append::artifacts`]); everything else is saved here.
///
/// What a caller may assume after a crash: a version that was returned is stored with its content. The versions
/// of an artifact are numbered from 0 without a gap, whoever saves them at the same time. The number of a version
/// that was deleted here is not used again as long as the artifact has another version. The versions of a run's
/// events are removed with the run, and everything in the scope of a run or session is removed with it.
pub trait ArtifactStore: Send + Sync + fmt::Debug {
    /// Saves the content as the next version.
    fn store_version(
        &self,
        version: NewArtifactVersion,
        quota: ArtifactQuota,
    ) -> ArtifactWriteFuture<'_, ArtifactVersionRow>;

    fn find_version(&self, query: ArtifactVersionQuery) -> ReadFuture<'_, Option<ArtifactVersionRow>>;

    /// The newest version of each artifact that matches, the last saved first, at most `limit`, starting after
    /// `after` if it is set. An artifact that gets a version meanwhile moves to the front; a reader that follows
    /// the pages misses no other.
    fn list_artifacts(
        &self,
        filter: ArtifactFilter,
        after: Option<ArtifactCursor>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<ArtifactVersionRow>>;

    /// The versions of an artifact, newest first, at most `limit`, only those before `before` if it is set.
    fn list_versions(
        &self,
        key: ArtifactKey,
        before: Option<u32>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<ArtifactVersionRow>>;

    /// Deletes one version, or all. Returns how many there were. Blobs that nothing names any more are removed.
    fn delete_artifact(&self, key: ArtifactKey, version: Option<u32>) -> ArtifactWriteFuture<'_, u64>;
}
