//! Versions of artifacts in memory.

use std::collections::HashSet;

use sha2::{Digest as _, Sha256};
use trackway_domain::{ArtifactEntrySource, ArtifactIndexEntry, ArtifactScope, RunId, Timestamp};
use trackway_ports::{
    ArtifactContent, ArtifactCursor, ArtifactFilter, ArtifactKey, ArtifactQuota, ArtifactStore,
    ArtifactVersionQuery, ArtifactVersionRow, ArtifactWriteError, ArtifactWriteFuture, BlobHash,
    NewArtifactVersion, NextArtifactVersion, ReadFuture, RunRemoval,
};

use super::{MemoryBlobs, MemoryJournal, contents::MemoryContents};

/// Every version, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct ArtifactTable {
    newest: u64,
    rows: Vec<MemoryVersion>,
}

#[derive(Debug)]
struct MemoryVersion {
    row: ArtifactVersionRow,
    request: Option<String>,
    /// It only keeps its number.
    is_deleted: bool,
}

impl MemoryVersion {
    fn is_version_of(&self, key: &ArtifactKey) -> bool {
        let ArtifactKey { owner, scope, filename } = key;
        let row = &self.row;
        let same_owner = match scope {
            ArtifactScope::Tenant => row.owner.tenant == owner.tenant,
            ArtifactScope::Run(_) | ArtifactScope::Session(_) | ArtifactScope::User => row.owner == *owner,
        };
        same_owner && row.scope == *scope && row.filename == *filename
    }
}

impl ArtifactTable {
    /// Writes what an event of the run adds.
    pub(super) fn write_index_entry(&mut self, run: RunId, entry: &ArtifactIndexEntry, at: Timestamp) {
        if let ArtifactEntrySource::Yielded { artifact: id, grows: true } = &entry.source {
            let yields = |version: &&mut MemoryVersion| match &version.row.content {
                ArtifactContent::Yielded { run: by, artifact, .. } => {
                    !version.is_deleted && *by == run && artifact == id
                }
                ArtifactContent::Blob(_) | ArtifactContent::Attachment { .. } => false,
            };
            if let Some(version) = self.rows.iter_mut().rev().find(yields) {
                version.row.grow(entry);
                return;
            }
        }
        let scope = ArtifactScope::Session(entry.session.clone());
        let key = ArtifactKey { owner: entry.owner.clone(), scope, filename: entry.filename.clone() };
        let place = self.find_next_version(&key, at);
        self.push(ArtifactVersionRow::from_index_entry(run, entry, place), None);
    }

    fn find_next_version(&self, key: &ArtifactKey, created_at: Timestamp) -> NextArtifactVersion {
        let versions = self.rows.iter().filter(|version| version.is_version_of(key));
        let version = versions.map(|version| version.row.version + 1).max().unwrap_or(0);
        NextArtifactVersion { version, cursor: ArtifactCursor(self.newest + 1), created_at }
    }

    fn push(&mut self, row: ArtifactVersionRow, request: Option<String>) {
        self.newest = row.cursor.0;
        self.rows.push(MemoryVersion { row, request, is_deleted: false });
    }

    fn store_version(
        &mut self,
        version: NewArtifactVersion,
        hash: BlobHash,
        quota: ArtifactQuota,
    ) -> Result<ArtifactVersionRow, ArtifactWriteError> {
        let NewArtifactVersion { key, bytes, request_id, .. } = version;
        let mut same = self.rows.iter().filter(|row| row.is_version_of(&key));
        if let Some(earlier) = same.find(|row| request_id.is_some() && row.request == request_id) {
            return Ok(earlier.row.clone());
        }
        let place = self.find_next_version(&key, version.created_at);
        if version.only_if_absent && place.version > 0 {
            return Err(ArtifactWriteError::Exists);
        }
        let saved = || {
            let rows = self.rows.iter().map(|version| &version.row);
            rows.filter(|row| row.owner == key.owner && row.sha256.is_some())
        };
        quota.check(saved().map(|row| row.size_bytes).sum(), saved().count() as u64, bytes.len() as u64)?;
        let row = ArtifactVersionRow {
            owner: key.owner,
            scope: key.scope,
            filename: key.filename,
            version: place.version,
            media_type: version.media_type,
            size_bytes: bytes.len() as u64,
            sha256: Some(hash),
            created_at: place.created_at,
            run: version.run,
            session: version.session,
            tags: version.tags,
            metadata: version.metadata,
            content: ArtifactContent::Blob(hash),
            cursor: place.cursor,
        };
        self.push(row.clone(), request_id);
        Ok(row)
    }

    fn live_rows(&self) -> impl DoubleEndedIterator<Item = &ArtifactVersionRow> {
        self.rows.iter().filter(|version| !version.is_deleted).map(|version| &version.row)
    }

    fn find_version(&self, query: &ArtifactVersionQuery) -> Option<ArtifactVersionRow> {
        let ArtifactVersionQuery { access, scope, filename, version } = query;
        let matches = |row: &&ArtifactVersionRow| {
            row.scope == *scope
                && row.filename == *filename
                && version.is_none_or(|version| row.version == version)
                && access.covers_artifact(scope.kind(), &row.owner)
        };
        let is_own =
            |row: &&ArtifactVersionRow| *scope == ArtifactScope::Tenant || row.owner == access.caller;
        let own = self.live_rows().filter(matches).filter(is_own).max_by_key(|row| row.version);
        own.or_else(|| self.live_rows().filter(matches).max_by_key(|row| row.cursor)).cloned()
    }

    fn list_artifacts(
        &self,
        filter: &ArtifactFilter,
        after: Option<ArtifactCursor>,
        limit: usize,
    ) -> Vec<ArtifactVersionRow> {
        let is_newest = |row: &&ArtifactVersionRow| {
            let key = row.key();
            let mut same = self.rows.iter().filter(|other| !other.is_deleted && other.is_version_of(&key));
            same.all(|other| other.row.version <= row.version)
        };
        self.live_rows()
            .rev()
            .filter(|row| after.is_none_or(|after| row.cursor < after))
            .filter(|row| matches_filter(filter, row))
            .filter(is_newest)
            .take(limit)
            .cloned()
            .collect()
    }

    fn list_versions(&self, key: &ArtifactKey, before: Option<u32>, limit: usize) -> Vec<ArtifactVersionRow> {
        let same = self.rows.iter().filter(|version| !version.is_deleted && version.is_version_of(key));
        let mut rows: Vec<_> = same.map(|version| version.row.clone()).collect();
        rows.retain(|row| before.is_none_or(|before| row.version < before));
        rows.sort_by_key(|row| std::cmp::Reverse(row.version));
        rows.truncate(limit);
        rows
    }

    fn delete(&mut self, key: &ArtifactKey, number: Option<u32>) -> u64 {
        let mut deleted = 0;
        for version in self.rows.iter_mut().filter(|version| version.is_version_of(key)) {
            if !version.is_deleted && number.is_none_or(|number| version.row.version == number) {
                version.is_deleted = true;
                version.request = None;
                version.row.sha256 = None;
                deleted += 1;
            }
        }
        if !self.rows.iter().any(|version| !version.is_deleted && version.is_version_of(key)) {
            self.rows.retain(|version| !version.is_version_of(key));
        }
        deleted
    }

    /// What goes with these runs, and with their session.
    pub(super) fn remove_with_runs(&mut self, removal: &RunRemoval) {
        let is_removed = |id: RunId| removal.runs.iter().any(|head| head.run == id);
        self.rows.retain(|MemoryVersion { row, .. }| {
            let of_session = removal.session.as_ref().is_some_and(|(owner, session)| {
                row.owner == *owner && row.scope == ArtifactScope::Session(session.clone())
            });
            let of_run = row.run.is_some_and(is_removed)
                && (matches!(row.scope, ArtifactScope::Run(_))
                    || !matches!(row.content, ArtifactContent::Blob(_)));
            !of_session && !of_run
        });
    }

    pub(super) fn named_blobs(&self) -> HashSet<BlobHash> {
        self.rows.iter().filter_map(|version| version.row.sha256).collect()
    }
}

fn matches_filter(filter: &ArtifactFilter, row: &ArtifactVersionRow) -> bool {
    let ArtifactFilter { access, scope, session, run, prefix, tag } = filter;
    access.covers_artifact(row.scope.kind(), &row.owner)
        && scope.is_none_or(|kind| row.scope.kind() == kind)
        && session.as_ref().is_none_or(|session| row.session.as_ref() == Some(session))
        && run.is_none_or(|run| row.run == Some(run))
        && prefix.as_ref().is_none_or(|prefix| row.filename.as_str().starts_with(prefix))
        && tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
}

/// Makes a change, and removes the blobs that no version names any more.
pub(super) fn remove_unnamed_blobs<T>(
    blobs: &MemoryBlobs,
    contents: &mut MemoryContents,
    change: impl FnOnce(&mut MemoryContents) -> T,
) -> T {
    let before = contents.artifacts.named_blobs();
    let result = change(contents);
    let after = contents.artifacts.named_blobs();
    before.difference(&after).for_each(|hash| blobs.remove(*hash));
    result
}

impl ArtifactStore for MemoryJournal {
    fn store_version(
        &self,
        version: NewArtifactVersion,
        quota: ArtifactQuota,
    ) -> ArtifactWriteFuture<'_, ArtifactVersionRow> {
        Box::pin(async move {
            if self.lock_process().is_closed {
                return Err(ArtifactWriteError::Closed);
            }
            // Under one lock, so that no deletion comes between the blob and the version.
            let mut contents = self.lock_contents();
            let hash = BlobHash(Sha256::digest(&version.bytes).into());
            let bytes = version.bytes.clone();
            let stored = contents.artifacts.store_version(version, hash, quota)?;
            if stored.sha256 == Some(hash) {
                self.blobs.insert(hash, bytes);
            }
            Ok(stored)
        })
    }

    fn find_version(&self, query: ArtifactVersionQuery) -> ReadFuture<'_, Option<ArtifactVersionRow>> {
        self.read_contents(move |contents| Ok(contents.artifacts.find_version(&query)))
    }

    fn list_artifacts(
        &self,
        filter: ArtifactFilter,
        after: Option<ArtifactCursor>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<ArtifactVersionRow>> {
        self.read_contents(move |contents| Ok(contents.artifacts.list_artifacts(&filter, after, limit)))
    }

    fn list_versions(
        &self,
        key: ArtifactKey,
        before: Option<u32>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<ArtifactVersionRow>> {
        self.read_contents(move |contents| Ok(contents.artifacts.list_versions(&key, before, limit)))
    }

    fn delete_artifact(&self, key: ArtifactKey, version: Option<u32>) -> ArtifactWriteFuture<'_, u64> {
        Box::pin(async move {
            if self.lock_process().is_closed {
                return Err(ArtifactWriteError::Closed);
            }
            let mut contents = self.lock_contents();
            Ok(remove_unnamed_blobs(&self.blobs, &mut contents, |contents| {
                contents.artifacts.delete(&key, version)
            }))
        })
    }
}
