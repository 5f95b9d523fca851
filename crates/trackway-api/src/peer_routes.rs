//! Peers over REST: the agents of other processes that the caller's tenant sees.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::{FromRequestParts, Path, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway_domain::ErrorCode;
use trackway_http::{HttpError, JsonBody, QueryParams};
use trackway_mesh::{
    AddedOutcome, NewPeer, Peer, PeerCredentials, PeerError, PeerKind, PeerName, PeerSource,
};

use super::{
    api_caller::{ApiCaller, ApiOptions},
    check_run_list_limit,
};

/// Names that the problem about an unknown peer lists.
/// Limit (HTTP): names in the problem about an unknown peer.
const KNOWN_NAMES_MAX: usize = 50;

/// `POST /api/peers`: which peer to add.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddPeerRequest {
    /// The base under which its card lies.
    pub url: String,
    /// The name from its card, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Sent to it as `Authorization: Bearer …`. It is not shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Sent to it with every request. They are not shown again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// The key and the headers are secret.
impl std::fmt::Debug for AddPeerRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddPeerRequest")
            .field("url", &self.url)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A page of peers, in the order of their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerList {
    pub items: Vec<PeerSummary>,
    /// Where the next page begins (`cursor`); null on the last one.
    pub next: Option<String>,
}

/// One peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PeerSummary {
    pub name: String,
    /// `agent` or `workflow`.
    pub kind: String,
    pub url: String,
    /// The tool that calls it; null until its card is known.
    pub tool: Option<String>,
    /// `up`, `down` or `unknown`.
    pub health: String,
    /// When it answered last, RFC 3339.
    pub last_seen: Option<String>,
    /// Why it did not answer.
    pub error: Option<String>,
}

/// One peer with what its card says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PeerDetail {
    #[serde(flatten)]
    pub summary: PeerSummary,
    /// `configured`, `added`, or the name of the discovery that found it.
    pub source: String,
    /// The name that it would have if another peer did not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    pub description: String,
    /// The input that it takes; null if it takes messages.
    pub input_schema: Option<Value>,
    pub output_schema: Option<Value>,
    /// The whole card; null until it is known.
    pub card: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeerListParams {
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

pub(super) async fn list_peers(
    State(ApiOptions { peers, .. }): State<ApiOptions>,
    caller: ApiCaller,
    QueryParams(params): QueryParams<PeerListParams>,
) -> Result<Response, HttpError> {
    let limit = check_run_list_limit(params.limit)?;
    let snapshot = peers.snapshot();
    let all = snapshot.peers_of_tenant(caller.tenant());
    let after = params.cursor.unwrap_or_default();
    let rest = &all[all.partition_point(|peer| peer.name.as_str() <= after.as_str())..];
    let page = &rest[..rest.len().min(limit)];
    let next = page.last().filter(|_| rest.len() > limit).map(|peer| peer.name.to_string());
    let items = page.iter().map(|peer| PeerSummary::from(&**peer)).collect();
    Ok(Json(PeerList { items, next }).into_response())
}

pub(super) async fn get_peer(
    State(ApiOptions { peers, .. }): State<ApiOptions>,
    caller: ApiCaller,
    PeerNamePath(name): PeerNamePath,
) -> Result<Response, HttpError> {
    let snapshot = peers.snapshot();
    let peer = snapshot.find_peer(caller.tenant(), &name).ok_or_else(|| PeerError::unknown(&name));
    let peer = peer.map_err(|error| with_known_names(&error, snapshot.names_of_tenant(caller.tenant())))?;
    Ok(Json(PeerDetail::from(&**peer)).into_response())
}

pub(super) async fn add_peer(
    State(ApiOptions { peers, .. }): State<ApiOptions>,
    caller: ApiCaller,
    JsonBody(request): JsonBody<AddPeerRequest>,
) -> Result<Response, HttpError> {
    caller.authenticated.check_can_administer_peers()?;
    let AddPeerRequest { url, name, key, headers } = request;
    let name = name.as_deref().map(PeerName::new).transpose().map_err(PeerError::from);
    let name = name.map_err(|error| peer_http_error(&error))?;
    let new = NewPeer { url, name, credentials: PeerCredentials { key, headers } };
    let added = peers.add_peer(&caller.authenticated.0.caller, new).await;
    let (status, peer) = match added.map_err(|error| peer_http_error(&error))? {
        AddedOutcome::Created(peer) => (StatusCode::CREATED, peer),
        AddedOutcome::Existing(peer) => (StatusCode::OK, peer),
    };
    let location = [(header::LOCATION, format!("/api/peers/{}", peer.name))];
    Ok((status, location, Json(PeerSummary::from(&*peer))).into_response())
}

pub(super) async fn remove_peer(
    State(ApiOptions { peers, .. }): State<ApiOptions>,
    caller: ApiCaller,
    PeerNamePath(name): PeerNamePath,
) -> Result<Response, HttpError> {
    caller.authenticated.check_can_administer_peers()?;
    let removed = peers.remove_peer(caller.tenant(), &name).await;
    removed.map_err(|error| with_known_names(&error, peers.snapshot().names_of_tenant(caller.tenant())))?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(super) async fn ping_peer(
    State(ApiOptions { peers, .. }): State<ApiOptions>,
    caller: ApiCaller,
    PeerNamePath(name): PeerNamePath,
) -> Result<Response, HttpError> {
    caller.authenticated.check_can_administer_peers()?;
    let peer = peers.ping(caller.tenant(), &name).await;
    let peer =
        peer.map_err(|error| with_known_names(&error, peers.snapshot().names_of_tenant(caller.tenant())))?;
    Ok(Json(PeerSummary::from(&*peer)).into_response())
}

impl ApiCaller {
    fn tenant(&self) -> &str {
        &self.authenticated.0.caller.tenant
    }
}

/// The peer in the path. A text that no peer can have as its name names an unknown one.
#[derive(Debug)]
pub(super) struct PeerNamePath(String);

impl<S: Send + Sync> FromRequestParts<S> for PeerNamePath {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let Path(name) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| HttpError::new(ErrorCode::InvalidRequest, rejection.body_text()))?;
        Ok(Self(name))
    }
}

/// The problem, and which peers the caller has.
fn with_known_names<'a>(error: &PeerError, names: impl Iterator<Item = &'a PeerName>) -> HttpError {
    let problem = peer_http_error(error);
    match error {
        PeerError::Unknown { .. } => {
            let names: Vec<&str> = names.take(KNOWN_NAMES_MAX).map(PeerName::as_str).collect();
            problem.with_problem_member("known", json!(names))
        }
        _ => problem,
    }
}

fn peer_http_error(error: &PeerError) -> HttpError {
    let problem = HttpError::new(error.code(), error.to_string());
    match error {
        PeerError::Unusable { .. } => {
            problem.with_hint("with a name it is added anyway, and asked again until it answers")
        }
        PeerError::NameTaken { .. } | PeerError::UrlTaken { .. } | PeerError::NotAdded { .. } => {
            problem.with_status(StatusCode::CONFLICT)
        }
        PeerError::Store(source) => {
            // The internal cause is only for the operator.
            tracing::error!(error = %source, "the added peers cannot be read or written");
            HttpError::new(error.code(), "the peers cannot be read or written")
                .with_hint("see the server's log")
        }
        _ => problem,
    }
}

impl From<&Peer> for PeerSummary {
    fn from(peer: &Peer) -> Self {
        Self {
            name: peer.name.to_string(),
            kind: peer.kind.as_str().to_owned(),
            url: peer.url.clone(),
            tool: peer.tool_name(),
            health: peer.health.as_str().to_owned(),
            last_seen: peer.last_seen.map(|seen| seen.to_string()),
            error: peer.error.clone(),
        }
    }
}

impl From<&Peer> for PeerDetail {
    fn from(peer: &Peer) -> Self {
        let (input_schema, output_schema) = match &peer.kind {
            PeerKind::Agent { input_schema } => (input_schema.as_deref().cloned(), None),
            PeerKind::Workflow { input_schema, output_schema } => {
                (Some((**input_schema).clone()), output_schema.as_deref().cloned())
            }
        };
        let source = match &peer.source {
            PeerSource::Configured => "configured",
            PeerSource::Added => "added",
            PeerSource::Discovered(source) => source,
        };
        Self {
            summary: PeerSummary::from(peer),
            source: source.to_owned(),
            renamed_from: peer.renamed_from.as_ref().map(ToString::to_string),
            description: peer.card.as_ref().map(|card| card.description.clone()).unwrap_or_default(),
            input_schema,
            output_schema,
            card: peer.card.as_ref().map(|card| card.document.clone()),
        }
    }
}
