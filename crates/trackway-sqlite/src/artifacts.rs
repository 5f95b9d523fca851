//! The versions of artifacts in the database, and their content in the folder of blobs.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params};
use trackway_domain::Caller;
use trackway_ports::{
    AppendError, ArtifactContent, ArtifactCursor, ArtifactFilter, ArtifactKey, ArtifactQuota, ArtifactStore,
    ArtifactVersionQuery, ArtifactVersionRow, ArtifactWriteError, ArtifactWriteFuture, BlobHash,
    NewArtifactVersion, ReadError, ReadFuture,
};

use crate::{
    SqliteJournal,
    artifact_rows::{
        ARTIFACT_COLUMNS, ArtifactRowError, DELETED, EncodedArtifactKey, OF_ARTIFACT, decode_artifact_row,
    },
    read,
    write_jobs::{ArtifactTransaction, MaintenanceRequest},
    writer::artifact_writes::ArtifactStatements,
};

impl ArtifactStore for SqliteJournal {
    fn store_version(
        &self,
        mut version: NewArtifactVersion,
        quota: ArtifactQuota,
    ) -> ArtifactWriteFuture<'_, ArtifactVersionRow> {
        Box::pin(async move {
            let bytes = Arc::new(std::mem::take(&mut version.bytes));
            // Away from the writer, whose time limits the store. The writer only looks whether the file is still
            // there.
            let hash =
                self.blob_store().store_shared_blob(&bytes).await.map_err(write_error_from_read_error)?;
            let blob = StoredBlob { hash, size_bytes: bytes.len() as u64 };
            self.run_artifact_transaction(Some((hash, bytes)), move |conn| {
                let stored = insert_next_version(conn, &version, blob, quota)?;
                Ok((stored, Vec::new()))
            })
            .await?
        })
    }

    fn find_version(&self, query: ArtifactVersionQuery) -> ReadFuture<'_, Option<ArtifactVersionRow>> {
        self.read_on_pool(move |from| read::find_artifact_version(from.conn, &query))
    }

    fn list_artifacts(
        &self,
        filter: ArtifactFilter,
        after: Option<ArtifactCursor>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<ArtifactVersionRow>> {
        self.read_on_pool(move |from| read::list_newest_artifact_versions(from.conn, &filter, after, limit))
    }

    fn list_versions(
        &self,
        key: ArtifactKey,
        before: Option<u32>,
        limit: usize,
    ) -> ReadFuture<'_, Vec<ArtifactVersionRow>> {
        self.read_on_pool(move |from| read::list_artifact_versions(from.conn, &key, before, limit))
    }

    fn delete_artifact(&self, key: ArtifactKey, version: Option<u32>) -> ArtifactWriteFuture<'_, u64> {
        Box::pin(self.run_artifact_transaction(None, move |conn| delete_versions(conn, &key, version)))
    }
}

impl SqliteJournal {
    /// Runs a transaction of the writer, and returns its result after the commit. Beside the result, `write`
    /// returns the blobs that may no longer be needed.
    async fn run_artifact_transaction<T: Send + 'static>(
        &self,
        content: Option<(BlobHash, Arc<Vec<u8>>)>,
        write: impl Fn(&Connection) -> Result<(T, Vec<BlobHash>), rusqlite::Error> + Send + 'static,
    ) -> Result<T, ArtifactWriteError> {
        let found = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&found);
        let write = move |conn: &Connection| {
            let (result, unneeded) = write(conn)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            Ok(unneeded)
        };
        let work = ArtifactTransaction { content, write: Box::new(write) };
        self.enqueue_maintenance_and_wait(MaintenanceRequest::Artifacts(work))
            .await
            .map_err(write_error_from_append_error)?;
        let result = found.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.ok_or_else(|| ArtifactWriteError::Broken { reason: "nothing was written".to_owned() })
    }
}

/// Content that is in its file.
#[derive(Debug, Clone, Copy)]
struct StoredBlob {
    hash: BlobHash,
    size_bytes: u64,
}

/// Writes the next version in the open transaction. A refusal writes nothing.
fn insert_next_version(
    conn: &Connection,
    version: &NewArtifactVersion,
    blob: StoredBlob,
    quota: ArtifactQuota,
) -> rusqlite::Result<Result<ArtifactVersionRow, ArtifactWriteError>> {
    if let Some(request) = &version.request_id
        && let Some(earlier) = find_version_of_request(conn, &version.key, request)?
    {
        return Ok(earlier);
    }
    let mut statements = ArtifactStatements::prepare_artifact_statements(conn)?;
    let place = statements.find_next_version(&version.key, version.created_at)?;
    if version.only_if_absent && place.version > 0 {
        return Ok(Err(ArtifactWriteError::Exists));
    }
    if let Err(refused) = check_quota(conn, &version.key.owner, blob, quota)? {
        return Ok(Err(refused));
    }
    let row = ArtifactVersionRow {
        owner: version.key.owner.clone(),
        scope: version.key.scope.clone(),
        filename: version.key.filename.clone(),
        version: place.version,
        media_type: version.media_type.clone(),
        size_bytes: blob.size_bytes,
        sha256: Some(blob.hash),
        created_at: place.created_at,
        run: version.run,
        session: version.session.clone(),
        tags: version.tags.clone(),
        metadata: version.metadata.clone(),
        content: ArtifactContent::Blob(blob.hash),
        cursor: place.cursor,
    };
    statements.insert_version(&row, version.request_id.as_deref())?;
    Ok(Ok(row))
}

fn find_version_of_request(
    conn: &Connection,
    key: &ArtifactKey,
    request: &str,
) -> rusqlite::Result<Option<Result<ArtifactVersionRow, ArtifactWriteError>>> {
    let sql = format!("SELECT {ARTIFACT_COLUMNS}, crc FROM artifacts WHERE {OF_ARTIFACT} AND request = ?6");
    let key = EncodedArtifactKey::new(key);
    let [tenant, scope, scope_id, filename, user] = key.values();
    let found = conn
        .prepare_cached(&sql)?
        .query_row(params![tenant, scope, scope_id, filename, user, request], |row| {
            Ok(decode_artifact_row(row))
        })
        .optional()?;
    match found {
        None => Ok(None),
        Some(Ok(row)) => Ok(Some(Ok(row))),
        Some(Err(ArtifactRowError::Sql(error))) => Err(error),
        Some(Err(ArtifactRowError::Damaged(reason))) => Ok(Some(Err(ArtifactWriteError::Broken { reason }))),
    }
}

fn check_quota(
    conn: &Connection,
    owner: &Caller,
    blob: StoredBlob,
    quota: ArtifactQuota,
) -> rusqlite::Result<Result<(), ArtifactWriteError>> {
    let (versions, bytes): (i64, i64) = conn
        .prepare_cached(
            "SELECT count(*), ifnull(sum(size_bytes), 0) FROM artifacts
             WHERE tenant = ?1 AND user = ?2 AND sha256 IS NOT NULL",
        )?
        .query_row(params![owner.tenant, owner.user], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(quota.check(bytes.unsigned_abs(), versions.unsigned_abs(), blob.size_bytes))
}

/// Deletes in the open transaction. Returns how many versions, and the blobs that they named.
fn delete_versions(
    conn: &Connection,
    key: &ArtifactKey,
    version: Option<u32>,
) -> rusqlite::Result<(u64, Vec<BlobHash>)> {
    let encoded = EncodedArtifactKey::new(key);
    let [tenant, scope, scope_id, filename, user] = encoded.values();
    let live = format!("{OF_ARTIFACT} AND (?6 IS NULL OR version = ?6) AND content <> '{DELETED}'");
    let values = params![tenant, scope, scope_id, filename, user, version];
    let mut named = conn.prepare_cached(&format!("SELECT sha256 FROM artifacts WHERE {live}"))?;
    let named: Vec<Option<String>> = named.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?;
    if version.is_some() {
        conn.prepare_cached(&format!(
            "UPDATE artifacts
             SET content = '{DELETED}', media_type = '', size_bytes = 0, sha256 = NULL, run = NULL,
                 session = NULL, tags = '[]', metadata = '{{}}', request = NULL, artifact = NULL,
                 first_seq = NULL, last_seq = NULL, part = NULL, crc = 0
             WHERE {live}"
        ))?
        .execute(values)?;
    }
    // Only the greatest number needs to be kept, and only beside another version.
    conn.prepare_cached(&format!(
        "DELETE FROM artifacts WHERE {OF_ARTIFACT} AND (
             ?6 IS NULL
             OR content = '{DELETED}' AND version < (SELECT max(version) FROM artifacts WHERE {OF_ARTIFACT})
             OR NOT EXISTS (SELECT 1 FROM artifacts WHERE {OF_ARTIFACT} AND content <> '{DELETED}'))"
    ))?
    .execute(values)?;
    // A damaged name may be any text, even the path of another file.
    let blobs = named.iter().flatten().filter_map(|name| name.parse().ok()).collect();
    Ok((named.len() as u64, blobs))
}

fn write_error_from_append_error(error: AppendError) -> ArtifactWriteError {
    match error {
        AppendError::Unavailable { reason } => ArtifactWriteError::Unavailable { reason },
        AppendError::Unknown { reason } => ArtifactWriteError::Unknown { reason },
        AppendError::Closed => ArtifactWriteError::Closed,
        AppendError::Broken { reason } => ArtifactWriteError::Broken { reason },
        AppendError::Conflict { .. } | AppendError::Fenced { .. } | AppendError::Claimed(_) => {
            ArtifactWriteError::Broken { reason: error.to_string() }
        }
    }
}

/// Blobs are written by the port of reads.
fn write_error_from_read_error(error: ReadError) -> ArtifactWriteError {
    match error {
        ReadError::Unavailable { reason } => ArtifactWriteError::Unavailable { reason },
        ReadError::Damaged { .. } | ReadError::DamagedBlob { .. } | ReadError::Broken { .. } => {
            ArtifactWriteError::Broken { reason: error.to_string() }
        }
    }
}
