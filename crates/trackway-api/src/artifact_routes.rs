//! Artifacts over REST: store, read, list and remove, and read by a signed reference.
//!
//! Content is hostile: it is sent back as an attachment that no browser opens or sniffs, and a name never
//! becomes a path.

mod artifact_caller;
mod artifact_http_error;
mod artifact_params;
mod byte_range;
mod content_response;
mod upload_body;

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Body,
    extract::{FromRef, Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use trackway_artifacts::{ArtifactListQuery, ArtifactService, NewArtifact, ReferenceSigner};
use trackway_domain::{ArtifactFilename, ErrorCode};
use trackway_http::{HttpError, OptionalAuthenticator, QueryParams};

use self::{
    artifact_caller::{ArtifactNamePath, ArtifactReader, ArtifactWriter},
    artifact_http_error::{artifact_http_error, reference_http_error},
    artifact_params::{DeleteParams, ListParams, LookupParams, PutParams, UploadHeaders, VersionsParams},
};
use super::{
    artifact_types::{ArtifactList, ArtifactVersion},
    check_run_list_limit,
};

/// What the routes of artifacts need.
#[derive(Debug, Clone)]
pub struct ArtifactApiOptions {
    pub artifacts: Arc<ArtifactService>,
    pub references: ReferenceSigner,
    pub gate: OptionalAuthenticator,
}

impl FromRef<ArtifactApiOptions> for OptionalAuthenticator {
    fn from_ref(options: &ArtifactApiOptions) -> Self {
        options.gate.clone()
    }
}

/// The routes below `/api/artifacts`. A body is read up to the limit of an artifact, not up to that of the other
/// routes.
pub fn artifacts_api_router(options: ArtifactApiOptions) -> Router {
    Router::new()
        .route("/api/artifacts", get(list_artifacts))
        .route("/api/artifacts/{filename}", get(get_artifact).put(put_artifact).delete(delete_artifact))
        .route("/api/artifacts/{filename}/versions", get(list_artifact_versions))
        .route("/api/artifacts/signed/{token}", get(get_signed_artifact))
        // An artifact may have the name `signed` too.
        .route("/api/artifacts/signed/versions", get(list_versions_of_name_signed))
        .with_state(options)
}

async fn list_artifacts(
    ArtifactReader(caller): ArtifactReader,
    QueryParams(params): QueryParams<ListParams>,
) -> Result<Response, HttpError> {
    let query = ArtifactListQuery {
        scope: params.scope,
        session: params.session,
        prefix: params.prefix,
        tag: params.tag,
        after: params.cursor,
        ..ArtifactListQuery::new(check_run_list_limit(params.limit)?)
    };
    let page = caller.artifacts.list(&caller.access, &query).await.map_err(artifact_http_error)?;
    Ok(Json(ArtifactList::from(page)).into_response())
}

async fn put_artifact(
    ArtifactWriter(caller): ArtifactWriter,
    ArtifactNamePath(filename): ArtifactNamePath,
    QueryParams(params): QueryParams<PutParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, HttpError> {
    let scope = params.scope()?;
    let upload = UploadHeaders::read_headers(&headers)?;
    let bytes = upload_body::read_upload(&headers, body, caller.artifacts.limits().bytes_max).await?;
    let sent = bytes.clone();
    let new = NewArtifact {
        media_type: upload.media_type,
        tags: params.tags(),
        request_id: upload.request_id,
        only_if_absent: upload.only_if_absent,
        ..NewArtifact::new(filename, scope, bytes)
    };
    let is_repeatable = new.request_id.is_some();
    let stored = caller.artifacts.save(&caller.access, new).await.map_err(artifact_http_error)?;
    // The earlier request had other content, so this one is not a repetition of it.
    if is_repeatable && stored.sha256.is_some_and(|hash| hash != content_response::content_hash(&sent)) {
        let detail = "this Idempotency-Key was used for other content of this artifact";
        return Err(HttpError::new(ErrorCode::MessageReused, detail).with_hint("send a new key"));
    }
    let version = ArtifactVersion::from(stored);
    let location = [(header::LOCATION, version.address())];
    Ok((StatusCode::CREATED, location, Json(version)).into_response())
}

async fn get_artifact(
    ArtifactReader(caller): ArtifactReader,
    ArtifactNamePath(filename): ArtifactNamePath,
    QueryParams(params): QueryParams<LookupParams>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let artifact =
        caller.artifacts.find(&caller.access, &params.lookup(filename)).await.map_err(artifact_http_error)?;
    content_response::content_response(&caller.artifacts, &artifact, &headers).await
}

async fn list_artifact_versions(
    reader: ArtifactReader,
    ArtifactNamePath(filename): ArtifactNamePath,
    QueryParams(params): QueryParams<VersionsParams>,
) -> Result<Response, HttpError> {
    list_versions_of(&reader, filename, params).await
}

async fn list_versions_of_name_signed(
    reader: ArtifactReader,
    QueryParams(params): QueryParams<VersionsParams>,
) -> Result<Response, HttpError> {
    let filename = ArtifactFilename::from_text_lossy("signed");
    list_versions_of(&reader, filename, params).await
}

async fn list_versions_of(
    ArtifactReader(caller): &ArtifactReader,
    filename: ArtifactFilename,
    params: VersionsParams,
) -> Result<Response, HttpError> {
    let limit = check_run_list_limit(params.limit)?;
    let (after, lookup) = (params.cursor, params.into_lookup(filename));
    let page = caller
        .artifacts
        .list_versions(&caller.access, &lookup, after, limit)
        .await
        .map_err(artifact_http_error)?;
    Ok(Json(ArtifactList::from(page)).into_response())
}

async fn delete_artifact(
    ArtifactWriter(caller): ArtifactWriter,
    ArtifactNamePath(filename): ArtifactNamePath,
    QueryParams(params): QueryParams<DeleteParams>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    artifact_params::refuse_header(&headers, &header::IF_MATCH)?;
    caller
        .artifacts
        .delete(&caller.access, &params.into_lookup(filename)?)
        .await
        .map_err(artifact_http_error)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Whoever has the reference may read this version; no credentials are looked at.
async fn get_signed_artifact(
    State(options): State<ArtifactApiOptions>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let named = options.references.verify_reference(&token).await.map_err(reference_http_error)?;
    let artifact = options.artifacts.find(&named.access, &named.lookup).await.map_err(artifact_http_error)?;
    content_response::content_response(&options.artifacts, &artifact, &headers).await
}

#[cfg(test)]
mod tests;
