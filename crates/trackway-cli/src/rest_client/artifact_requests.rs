//! Requests about artifacts.

use bytes::Bytes;
use reqwest::{Method, Response, header};
use trackway::{
    api::{ArtifactList, ArtifactVersion},
    artifacts::{ArtifactListQuery, ArtifactLookup, NewArtifact},
};
use trackway_domain::ArtifactScope;

use super::RestClient;
use crate::cli_error::CliError;

const ARTIFACTS: [&str; 2] = ["api", "artifacts"];

/// The content of an artifact, piece by piece.
#[derive(Debug)]
pub(crate) enum ArtifactDownload {
    Whole(Option<Bytes>),
    Stream(Response),
}

impl ArtifactDownload {
    /// The next piece; `None` at the end.
    pub(crate) async fn next_chunk(&mut self) -> Result<Option<Bytes>, CliError> {
        match self {
            Self::Whole(content) => Ok(content.take()),
            Self::Stream(response) => response.chunk().await.map_err(|error| {
                CliError::new("the content ended too early").with_cause(&error.without_url())
            }),
        }
    }
}

impl RestClient {
    pub(crate) async fn list_artifacts(&self, query: &ArtifactListQuery) -> Result<ArtifactList, CliError> {
        let mut parameters = vec![("limit", query.limit.to_string())];
        parameters.extend(query.scope.map(|scope| ("scope", scope.to_string())));
        parameters.extend(query.session.as_ref().map(|id| ("session", id.to_string())));
        parameters.extend(query.prefix.clone().map(|prefix| ("prefix", prefix)));
        parameters.extend(query.tag.clone().map(|tag| ("tag", tag)));
        parameters.extend(query.after.map(|cursor| ("cursor", cursor.0.to_string())));
        self.send_and_parse_json(self.build_request(Method::GET, &ARTIFACTS, &parameters)).await
    }

    pub(crate) async fn list_artifact_versions(
        &self,
        lookup: &ArtifactLookup,
        limit: usize,
    ) -> Result<ArtifactList, CliError> {
        let path = [ARTIFACTS[0], ARTIFACTS[1], lookup.filename.as_str(), "versions"];
        let mut parameters = lookup_parameters(lookup);
        parameters.push(("limit", limit.to_string()));
        self.send_and_parse_json(self.build_request(Method::GET, &path, &parameters)).await
    }

    pub(crate) async fn open_artifact_download(
        &self,
        lookup: &ArtifactLookup,
    ) -> Result<ArtifactDownload, CliError> {
        let path = [ARTIFACTS[0], ARTIFACTS[1], lookup.filename.as_str()];
        // No limit on the whole time: the content may be large, and a silent server is noticed.
        let sent = self.build_request(Method::GET, &path, &lookup_parameters(lookup)).send().await;
        Ok(ArtifactDownload::Stream(self.require_success_response(sent).await?))
    }

    pub(crate) async fn store_artifact(&self, new: NewArtifact) -> Result<ArtifactVersion, CliError> {
        let mut parameters = vec![("scope", new.scope.kind().to_string())];
        match &new.scope {
            ArtifactScope::Run(run) => parameters.push(("run", run.to_string())),
            ArtifactScope::Session(session) => parameters.push(("session", session.to_string())),
            ArtifactScope::User | ArtifactScope::Tenant => {}
        }
        if !new.tags.is_empty() {
            parameters.push(("tags", new.tags.join(",")));
        }
        let path = [ARTIFACTS[0], ARTIFACTS[1], new.filename.as_str()];
        let mut request = self.build_request(Method::PUT, &path, &parameters).body(new.bytes);
        if let Some(media_type) = new.media_type {
            request = request.header(header::CONTENT_TYPE, media_type);
        }
        if new.only_if_absent {
            request = request.header(header::IF_NONE_MATCH, "*");
        }
        let response = self.require_success_response(request.send().await).await?;
        response.json().await.map_err(|error| {
            CliError::new(format!("the answer of {} cannot be read", self.server_url())).with_cause(&error)
        })
    }

    pub(crate) async fn remove_artifact(&self, lookup: &ArtifactLookup) -> Result<(), CliError> {
        let path = [ARTIFACTS[0], ARTIFACTS[1], lookup.filename.as_str()];
        let sent = self.build_request(Method::DELETE, &path, &lookup_parameters(lookup)).send().await;
        self.require_success_response(sent).await.map(drop)
    }
}

fn lookup_parameters(lookup: &ArtifactLookup) -> Vec<(&'static str, String)> {
    let mut parameters = Vec::new();
    parameters.extend(lookup.run.map(|run| ("run", run.to_string())));
    parameters.extend(lookup.session.as_ref().map(|id| ("session", id.to_string())));
    parameters.extend(lookup.scope.map(|scope| ("scope", scope.to_string())));
    parameters.extend(lookup.version.map(|version| ("version", version.to_string())));
    parameters
}
