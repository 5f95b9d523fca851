//! Streamable HTTP: the door at `/mcp`, for clients with protocol sessions and for those without.

mod body_limits;
mod http_batch;
mod protocol_sessions;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::any_service,
};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService,
        session::local::{LocalSessionManager, SessionConfig},
    },
};
use trackway_domain::{Caller, ErrorCode};
use trackway_http::{
    HttpError, OptionalAuthenticator, authenticate_headers, origin_checks, problem_response,
};
use trackway_ports::{Identity, Unauthenticated};

use self::protocol_sessions::ProtocolSessions;
pub(crate) use self::protocol_sessions::SessionCallLimit;
use crate::McpDoor;

/// How long a protocol session of the older revisions may be silent. An agent may work on one step for
/// hours; the run itself is durable and needs no session.
/// Limit (MCP): silence of a protocol session before it ends.
const SESSION_IDLE_MAX: Duration = Duration::from_secs(12 * 60 * 60);
/// Largest error text that is converted to JSON.
/// Limit (MCP): error text that is turned into JSON.
const ERROR_TEXT_BYTES_MAX: usize = 64 * 1024;

/// A handler behind HTTP: the door, or a fixture in the tests of the transport.
#[derive(Debug, Clone)]
pub struct McpHttpDoor<H = McpDoor> {
    door: H,
    /// Absent if every caller is the local caller.
    gatekeeper: OptionalAuthenticator,
    config: StreamableHttpServerConfig,
}

impl<H: ServerHandler + Clone> McpHttpDoor<H> {
    pub fn new(door: H, gatekeeper: OptionalAuthenticator, body_bytes_max: usize) -> Self {
        // The server checks the host before a request arrives here.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_max_request_body_bytes(body_bytes_max);
        Self { door, gatekeeper, config }
    }

    /// The routes.
    pub fn router(&self) -> Router {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = SessionConfig::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE_MAX);
        // A session keeps nothing of an answered call. It would stay in memory until the session sends
        // something again. An agent whose answer was lost sends the same call again and gets the same
        // answer.
        sessions.session_config.completed_cache_ttl = Duration::ZERO;
        let manager = Arc::new(sessions);
        let sessions = Arc::new(ProtocolSessions::new(manager.clone()));
        let door = self.door.clone();
        let service = StreamableHttpService::new(move || Ok(door.clone()), manager, self.config.clone());
        Router::new()
            .route("/mcp", any_service(service.clone()))
            .route("/mcp/", any_service(service))
            .layer(middleware::from_fn_with_state(
                self.config.max_request_body_bytes,
                body_limits::refuse_too_long_or_deep_bodies,
            ))
            .layer(middleware::from_fn(http_batch::serve_batch_request))
            .layer(middleware::from_fn_with_state(sessions, check_protocol_session_owner))
            .layer(middleware::from_fn_with_state(self.gatekeeper.clone(), authenticate_request))
            .layer(middleware::from_fn(origin_checks::same_or_local_origin_only))
            .layer(middleware::from_fn(convert_transport_errors_to_json))
    }

    /// Ends open streams, so that a server can stop.
    pub fn end_open_streams(&self) {
        self.config.cancellation_token.cancel();
    }
}

/// Identifies the caller before the body is read.
async fn authenticate_request(
    State(gate): State<OptionalAuthenticator>,
    mut request: Request,
    next: Next,
) -> Response {
    let identity = match authenticate_headers(&gate, request.headers()).await {
        Ok(identity) => identity,
        Err(why) => return unauthenticated_http_error(&why).into_response(),
    };
    request.extensions_mut().insert(identity);
    next.run(request).await
}

/// Only the caller that opened a session can find it.
async fn check_protocol_session_owner(
    State(sessions): State<Arc<ProtocolSessions>>,
    mut request: Request,
    next: Next,
) -> Response {
    let identity = request.extensions().get::<Identity>();
    let caller = identity.map_or_else(Caller::local_without_auth, |identity| identity.caller.clone());
    if let Some(sent) = request.headers().get(protocol_sessions::SESSION_ID_HEADER) {
        let opened = sent.to_str().ok().and_then(|sent| sessions.verify_session_id(sent, &caller));
        let Some(Ok(id)) = opened.map(header::HeaderValue::from_str) else {
            let detail = "there is no such session; begin a new one with initialize";
            return problem_response(StatusCode::NOT_FOUND, ErrorCode::InvalidRequest, detail);
        };
        if let Some(calls) = sessions.touch_or_end_session(&id, request.method() == Method::DELETE) {
            request.extensions_mut().insert(calls);
        }
        request.headers_mut().insert(protocol_sessions::SESSION_ID_HEADER, id);
    }
    let is_end = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    // The session has ended and the answer is empty: clients of the older revisions expect this status.
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    if let Some(id) = response.headers_mut().remove(protocol_sessions::SESSION_ID_HEADER) {
        if let Ok(id) = id.to_str() {
            sessions.register_session(id, &caller).await;
        }
        let shown = id.to_str().ok().and_then(|id| sessions.sign_session_id(id, &caller));
        if let Some(Ok(shown)) = shown.map(header::HeaderValue::try_from) {
            response.headers_mut().insert(protocol_sessions::SESSION_ID_HEADER, shown);
        }
    }
    response
}

fn unauthenticated_http_error(why: &Unauthenticated) -> HttpError {
    match why {
        Unauthenticated::Missing | Unauthenticated::Wrong { .. } => {
            let detail = format!(
                "{why}; send the header Authorization: Bearer KEY (keys are made with `trackway keys create`)"
            );
            HttpError::new(why.code(), detail)
        }
        Unauthenticated::Unavailable { reason } => {
            tracing::error!(reason, "callers cannot be recognised");
            let detail = "the server cannot check keys at the moment; try again in a moment";
            HttpError::new(why.code(), detail)
        }
    }
}

/// Errors of the transport are plain text, but programs read JSON.
async fn convert_transport_errors_to_json(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.contains("json"));
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = axum::body::to_bytes(body, ERROR_TEXT_BYTES_MAX).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let detail = if text.is_empty() { status.canonical_reason().unwrap_or_default() } else { &text };
    let code = match status {
        StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::TooLarge,
        _ if status.is_server_error() => ErrorCode::Internal,
        _ => ErrorCode::InvalidRequest,
    };
    let mut told = problem_response(status, code, detail);
    // The body is new, so its headers go. All other headers, such as `Allow`, stay.
    for (name, value) in &parts.headers {
        if *name != header::CONTENT_TYPE && *name != header::CONTENT_LENGTH {
            told.headers_mut().insert(name.clone(), value.clone());
        }
    }
    told
}

#[cfg(test)]
mod tests;
