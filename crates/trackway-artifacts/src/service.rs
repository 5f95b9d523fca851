//! The service: who may use which artifact, and where its content is.

use std::sync::Arc;

use bytes::Bytes;
use trackway_domain::{
    Access, ArtifactFilename, ArtifactScope, Caller, Object, Permission, RunId, SessionId,
};
use trackway_engine::media_type_from_content;
use trackway_ports::{
    ArtifactContent, ArtifactCursor, ArtifactFilter, ArtifactKey, ArtifactStore, ArtifactVersionQuery, Blobs,
    Clock, Journal, NewArtifactVersion, ReadError, RefusedAction, SharedAuditRecorder,
};

use crate::{
    ArtifactError, ArtifactLimits, ArtifactListQuery, ArtifactLookup, ArtifactPage, NewArtifact,
    StoredArtifact, content_as_value,
    content_value::ContentKind,
    event_content::{load_attached_content, load_yielded_content},
    infer_schema,
    limits::{
        MEDIA_TYPE_BYTES_MAX, METADATA_BYTES_MAX, PAGE_MAX, REQUEST_ID_BYTES_MAX, TAG_BYTES_MAX, TAGS_MAX,
    },
};

/// The entry of a version's metadata with the schema that its content has.
const SCHEMA_METADATA: &str = "schema";

/// What the service is made of.
#[derive(Debug, Clone)]
pub struct ArtifactServiceOptions {
    pub store: Arc<dyn ArtifactStore>,
    pub blobs: Arc<dyn Blobs>,
    pub journal: Arc<dyn Journal>,
    pub clock: Arc<dyn Clock>,
    pub limits: ArtifactLimits,
    /// Learns of every name that a caller asked for and did not get.
    pub audit: SharedAuditRecorder,
}

/// Saves, finds and reads artifacts for callers. What a caller may not read does not exist for it.
#[derive(Debug)]
pub struct ArtifactService {
    options: ArtifactServiceOptions,
}

impl ArtifactService {
    pub const fn new(options: ArtifactServiceOptions) -> Self {
        Self { options }
    }

    pub const fn limits(&self) -> &ArtifactLimits {
        &self.options.limits
    }

    /// Saves the content as the next version. It is durable when this returns.
    pub async fn save(&self, access: &Access, new: NewArtifact) -> Result<StoredArtifact, ArtifactError> {
        self.check_sizes(&new)?;
        let origin = self.find_origin(access, &new).await?;
        let NewArtifact { filename, scope, media_type, bytes, tags, mut metadata, .. } = new;
        let media_type = media_type.unwrap_or_else(|| media_type_from_content(&filename, &bytes).to_owned());
        if let Some(schema) = schema_of_content(&media_type, &filename, &bytes, &metadata) {
            metadata.insert(SCHEMA_METADATA.to_owned(), schema);
        }
        let version = NewArtifactVersion {
            key: ArtifactKey { owner: origin.owner, scope, filename },
            bytes: bytes.into(),
            media_type,
            created_at: self.options.clock.now(),
            run: origin.run,
            session: origin.session,
            tags,
            metadata,
            request_id: new.request_id,
            only_if_absent: new.only_if_absent,
        };
        Ok(self.options.store.store_version(version, self.options.limits.quota).await?)
    }

    /// The artifact of that name, in the first scope that has it.
    pub async fn find(
        &self,
        access: &Access,
        lookup: &ArtifactLookup,
    ) -> Result<StoredArtifact, ArtifactError> {
        self.find_with_permission(access, Permission::ReadArtifacts, lookup).await
    }

    async fn find_with_permission(
        &self,
        access: &Access,
        permission: Permission<'_>,
        lookup: &ArtifactLookup,
    ) -> Result<StoredArtifact, ArtifactError> {
        let found = self.find_in_first_scope(access, lookup).await?;
        found.ok_or_else(|| self.refuse_unknown(access, permission, lookup))
    }

    async fn find_in_first_scope(
        &self,
        access: &Access,
        lookup: &ArtifactLookup,
    ) -> Result<Option<StoredArtifact>, ArtifactError> {
        for scope in lookup.scopes() {
            let query = |version| ArtifactVersionQuery {
                access: access.clone(),
                scope: scope.clone(),
                filename: lookup.filename.clone(),
                version,
            };
            if let Some(found) = self.options.store.find_version(query(lookup.version)).await? {
                return Ok(Some(found));
            }
            // The name means the artifact of the narrowest scope, also where it lacks that version.
            if lookup.version.is_some() && self.options.store.find_version(query(None)).await?.is_some() {
                break;
            }
        }
        Ok(None)
    }

    /// The content of an artifact that was found.
    pub async fn read(&self, artifact: &StoredArtifact) -> Result<Bytes, ArtifactError> {
        let journal = &*self.options.journal;
        let content = match &artifact.content {
            ArtifactContent::Blob(hash) => match self.options.blobs.load_blob(*hash).await {
                Ok(bytes) => Some(bytes.into()),
                Err(ReadError::DamagedBlob { .. }) if !self.is_still_stored(artifact).await? => None,
                Err(error) => return Err(error.into()),
            },
            ArtifactContent::Yielded { run, artifact, first, last } => {
                load_yielded_content(journal, *run, artifact, *first..=*last).await?
            }
            ArtifactContent::Attachment { run, seq, part } => {
                load_attached_content(journal, *run, *seq, *part).await?
            }
        };
        // Deleted since it was found.
        let gone = || ArtifactError::Unknown {
            filename: artifact.filename.clone(),
            version: Some(artifact.version),
        };
        content.ok_or_else(gone)
    }

    /// The newest version of each artifact that the caller may read, the last saved first.
    pub async fn list(
        &self,
        access: &Access,
        query: &ArtifactListQuery,
    ) -> Result<ArtifactPage, ArtifactError> {
        let filter = ArtifactFilter {
            scope: query.scope,
            session: query.session.clone(),
            run: query.run,
            prefix: query.prefix.clone(),
            tag: query.tag.clone(),
            ..ArtifactFilter::new(access.clone())
        };
        let limit = query.limit.clamp(1, PAGE_MAX);
        let items = self.options.store.list_artifacts(filter, query.after, limit + 1).await?;
        Ok(into_page(items, limit, |item| item.cursor))
    }

    /// The versions of the artifact that a lookup finds, newest first. The lookup's own version does not count.
    /// A page's `next` is the version before which the next page starts.
    pub async fn list_versions(
        &self,
        access: &Access,
        lookup: &ArtifactLookup,
        after: Option<ArtifactCursor>,
        limit: usize,
    ) -> Result<ArtifactPage, ArtifactError> {
        let newest = self.find(access, &ArtifactLookup { version: None, ..lookup.clone() }).await?;
        let limit = limit.clamp(1, PAGE_MAX);
        let before = after.map(|cursor| u32::try_from(cursor.0).unwrap_or(u32::MAX));
        let items = self.options.store.list_versions(newest.key(), before, limit + 1).await?;
        Ok(into_page(items, limit, |item| ArtifactCursor(item.version.into())))
    }

    /// Deletes the version that a lookup names, or all versions of the artifact. Returns how many.
    pub async fn delete(&self, access: &Access, lookup: &ArtifactLookup) -> Result<u64, ArtifactError> {
        let found = self.find_with_permission(access, Permission::WriteArtifacts, lookup).await?;
        let deleted = self.options.store.delete_artifact(found.key(), lookup.version).await?;
        if deleted == 0 {
            return Err(self.refuse_unknown(access, Permission::WriteArtifacts, lookup));
        }
        Ok(deleted)
    }

    /// Every name that a caller asked for and did not get passes here, whether it is missing or another's.
    fn refuse_unknown(
        &self,
        access: &Access,
        permission: Permission<'_>,
        lookup: &ArtifactLookup,
    ) -> ArtifactError {
        let ArtifactLookup { filename, version, .. } = lookup;
        let error = ArtifactError::Unknown { filename: filename.clone(), version: *version };
        self.options.audit.record_refusal(
            &access.caller,
            RefusedAction {
                action: permission.action(),
                object: filename.as_str(),
                reason: &error.to_string(),
            },
        );
        error
    }

    fn check_sizes(&self, new: &NewArtifact) -> Result<(), ArtifactError> {
        let (bytes, max) = (new.bytes.len(), self.options.limits.bytes_max);
        if bytes > max {
            return Err(ArtifactError::TooLarge { bytes, max });
        }
        let metadata = serde_json::to_string(&new.metadata).map_or(usize::MAX, |text| text.len());
        let longest_tag = new.tags.iter().map(String::len).max().unwrap_or(0);
        let fields = [
            ("the number of tags", new.tags.len(), TAGS_MAX),
            ("a tag", longest_tag, TAG_BYTES_MAX),
            ("the metadata", metadata, METADATA_BYTES_MAX),
            ("the media type", new.media_type.as_ref().map_or(0, String::len), MEDIA_TYPE_BYTES_MAX),
            ("the request id", new.request_id.as_ref().map_or(0, String::len), REQUEST_ID_BYTES_MAX),
        ];
        match fields.into_iter().find(|(_, size, max)| size > max) {
            Some((field, _, max)) => Err(ArtifactError::FieldTooLarge { field, max }),
            None => Ok(()),
        }
    }

    /// Who owns what is saved in a scope, and where it comes from. A run must exist for the caller. A session
    /// need not have a run yet: a file can be there before the first message.
    async fn find_origin(&self, access: &Access, new: &NewArtifact) -> Result<ArtifactOrigin, ArtifactError> {
        let own = access.caller.clone();
        Ok(match &new.scope {
            ArtifactScope::Run(run) => {
                let row = self.options.journal.find_run(*run).await?;
                let row = row.filter(|row| access.covers_owner(&row.caller));
                let row = row.ok_or(ArtifactError::UnknownRun { run: *run })?;
                ArtifactOrigin { owner: row.caller, run: Some(*run), session: Some(row.session) }
            }
            ArtifactScope::Session(session) => {
                ArtifactOrigin { owner: own, run: new.run, session: Some(session.clone()) }
            }
            ArtifactScope::User | ArtifactScope::Tenant => {
                ArtifactOrigin { owner: own, run: new.run, session: None }
            }
        })
    }

    async fn is_still_stored(&self, artifact: &StoredArtifact) -> Result<bool, ArtifactError> {
        let before = artifact.version.checked_add(1);
        let versions = self.options.store.list_versions(artifact.key(), before, 1).await?;
        Ok(versions.first().is_some_and(|newest| newest.version == artifact.version))
    }
}

/// Where a new version comes from.
struct ArtifactOrigin {
    owner: Caller,
    run: Option<RunId>,
    session: Option<SessionId>,
}

/// `items` has one more than `limit` if there is a next page.
fn into_page(
    mut items: Vec<StoredArtifact>,
    limit: usize,
    cursor: impl Fn(&StoredArtifact) -> ArtifactCursor,
) -> ArtifactPage {
    let has_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| has_more).map(cursor);
    ArtifactPage { items, next }
}

/// The schema of structured content, unless the caller gave one or it is too large to be kept with every version.
fn schema_of_content(
    media_type: &str,
    filename: &ArtifactFilename,
    bytes: &[u8],
    metadata: &Object,
) -> Option<serde_json::Value> {
    if metadata.contains_key(SCHEMA_METADATA) || !ContentKind::from_media_type(media_type).is_structured() {
        return None;
    }
    let schema = infer_schema(&content_as_value(media_type, filename.as_str(), bytes).ok()?);
    (schema.to_string().len() <= METADATA_BYTES_MAX).then_some(schema)
}

#[cfg(test)]
mod tests;
