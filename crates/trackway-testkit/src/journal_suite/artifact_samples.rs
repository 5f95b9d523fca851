//! Artifacts, entries of the index and lookups for the cases.

use trackway_domain::{
    Access, ArtifactEntrySource, ArtifactFilename, ArtifactId, ArtifactIndexEntry, ArtifactScope, Caller,
    Object, Seq,
};
use trackway_ports::{
    Append, ArtifactFilter, ArtifactKey, ArtifactQuota, ArtifactStore, ArtifactVersionQuery,
    ArtifactVersionRow, NewArtifactVersion,
};

use super::sample_appends::*;

/// As much as any case saves.
pub(super) const AMPLE: ArtifactQuota = ArtifactQuota { bytes_max: 1 << 40, versions_max: 1 << 40 };

/// The owner of the sample runs.
pub(super) fn ann() -> Caller {
    Caller::new("tenant", "user")
}

pub(super) fn bob() -> Caller {
    Caller::new("tenant", "bob")
}

pub(super) fn name(text: &str) -> ArtifactFilename {
    ArtifactFilename::new(text).unwrap()
}

pub(super) fn session_scope() -> ArtifactScope {
    ArtifactScope::Session(session_id("session"))
}

pub(super) fn key(owner: Caller, scope: ArtifactScope, filename: &str) -> ArtifactKey {
    ArtifactKey { owner, scope, filename: name(filename) }
}

pub(super) fn new_version(key: ArtifactKey, text: &str) -> NewArtifactVersion {
    let session = match &key.scope {
        ArtifactScope::Session(session) => Some(session.clone()),
        ArtifactScope::Run(_) => Some(session_id("session")),
        ArtifactScope::User | ArtifactScope::Tenant => None,
    };
    let run = match key.scope {
        ArtifactScope::Run(run) => Some(run),
        _ => None,
    };
    NewArtifactVersion {
        key,
        bytes: text.as_bytes().to_vec(),
        media_type: "text/plain".to_owned(),
        created_at: timestamp(7_000),
        run,
        session,
        tags: Vec::new(),
        metadata: Object::new(),
        request_id: None,
        only_if_absent: false,
    }
}

pub(super) async fn save(artifacts: &dyn ArtifactStore, key: ArtifactKey, text: &str) -> ArtifactVersionRow {
    artifacts.store_version(new_version(key, text), AMPLE).await.unwrap()
}

pub(super) async fn find(
    artifacts: &dyn ArtifactStore,
    access: Access,
    scope: ArtifactScope,
    filename: &str,
    version: Option<u32>,
) -> Option<ArtifactVersionRow> {
    let query = ArtifactVersionQuery { access, scope, filename: name(filename), version };
    artifacts.find_version(query).await.unwrap()
}

pub(super) async fn list(artifacts: &dyn ArtifactStore, filter: ArtifactFilter) -> Vec<ArtifactVersionRow> {
    artifacts.list_artifacts(filter, None, ALL).await.unwrap()
}

pub(super) fn names(rows: &[ArtifactVersionRow]) -> Vec<&str> {
    rows.iter().map(|row| row.filename.as_str()).collect()
}

pub(super) async fn version_numbers(artifacts: &dyn ArtifactStore, key: ArtifactKey) -> Vec<u32> {
    let versions = artifacts.list_versions(key, None, ALL).await.unwrap();
    versions.iter().map(|row| row.version).collect()
}

pub(super) fn yielded(seq: Seq, filename: &str, grows: bool) -> ArtifactIndexEntry {
    ArtifactIndexEntry {
        owner: ann(),
        session: session_id("session"),
        seq,
        filename: name(filename),
        media_type: "application/json".to_owned(),
        size_bytes: 10,
        source: ArtifactEntrySource::Yielded { artifact: ArtifactId::new(filename).unwrap(), grows },
    }
}

pub(super) fn attached(seq: Seq, filename: &str, part: u32) -> ArtifactIndexEntry {
    let source = ArtifactEntrySource::Attachment { part };
    ArtifactIndexEntry { media_type: "text/csv".to_owned(), source, ..yielded(seq, filename, false) }
}

/// The first append of a run, with one event per entry.
pub(super) fn first_append(number: u128, entries: Vec<ArtifactIndexEntry>) -> Append {
    let mut append = numbered_append(run_id(number), 0, 1..=entries.len().max(1) as u64);
    append.row = Some(run_row(number));
    append.artifacts = entries;
    append
}
