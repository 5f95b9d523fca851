//! The caller of a request about artifacts, and the name in its path.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use trackway_artifacts::ArtifactService;
use trackway_domain::{Access, ArtifactFilename, ErrorCode, ParseIdError};
use trackway_http::{Authenticated, HttpError};

use super::ArtifactApiOptions;

/// A caller with the scope that the request needs.
#[derive(Debug)]
pub(super) struct ArtifactCaller {
    pub(super) access: Access,
    pub(super) artifacts: Arc<ArtifactService>,
}

/// A caller that may read artifacts.
#[derive(Debug)]
pub(super) struct ArtifactReader(pub(super) ArtifactCaller);

/// A caller that may store and remove artifacts.
#[derive(Debug)]
pub(super) struct ArtifactWriter(pub(super) ArtifactCaller);

impl FromRequestParts<ArtifactApiOptions> for ArtifactReader {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, options: &ArtifactApiOptions) -> Result<Self, HttpError> {
        let authenticated = Authenticated::from_request_parts(parts, options).await?;
        authenticated.check_can_read_artifacts()?;
        Ok(Self(ArtifactCaller::new(&authenticated, options)))
    }
}

impl FromRequestParts<ArtifactApiOptions> for ArtifactWriter {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, options: &ArtifactApiOptions) -> Result<Self, HttpError> {
        let authenticated = Authenticated::from_request_parts(parts, options).await?;
        authenticated.check_can_write_artifacts()?;
        Ok(Self(ArtifactCaller::new(&authenticated, options)))
    }
}

impl ArtifactCaller {
    fn new(authenticated: &Authenticated, options: &ArtifactApiOptions) -> Self {
        Self { access: authenticated.0.access(), artifacts: options.artifacts.clone() }
    }
}

/// The name in the path, after its escapes are resolved.
#[derive(Debug)]
pub(super) struct ArtifactNamePath(pub(super) ArtifactFilename);

impl<S: Send + Sync> FromRequestParts<S> for ArtifactNamePath {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| HttpError::new(ErrorCode::InvalidRequest, rejection.body_text()))?;
        let filename = ArtifactFilename::new(&text);
        filename
            .map(Self)
            .map_err(|error: ParseIdError| HttpError::new(ErrorCode::InvalidRequest, error.to_string()))
    }
}
