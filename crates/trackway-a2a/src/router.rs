//! The addresses of the front door.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{HeaderMap, Method, StatusCode, Uri},
    response::Response,
    routing::{MethodRouter, any, get, post},
};
use trackway_domain::ErrorCode;
use trackway_runtime::Runtime;

use crate::{
    Options, card_discovery,
    error::{A2aError, A2aErrorKind},
    http, http_json, jsonrpc,
    server::{A2aServer, AgentAddress},
};

/// The name in an address; a name that cannot be decoded matches no agent.
type NameParam = Result<Path<String>, PathRejection>;
/// A name, and the path below the binding of that name.
type NameAndPathParams = Result<Path<(String, String)>, PathRejection>;

const CARD: &str = ".well-known/agent-card.json";

/// Serves every registered workflow as an agent below `/a2a/agents`, and the default agent at `/a2a`.
/// The caller that serves the router must set `TCP_NODELAY`: streams are many small writes.
pub fn a2a_router(runtime: Runtime, options: Options) -> Router {
    let both = |router: Router<Arc<A2aServer>>, path: &str, methods: MethodRouter<Arc<A2aServer>>| {
        // Some clients build addresses with a trailing slash.
        router.route(path, methods.clone()).route(&format!("{path}/"), methods)
    };
    let card_of_default = get(get_default_agent_card).fallback(method_not_allowed_response);
    let router = Router::new().route(&format!("/{CARD}"), card_of_default.clone());
    // The address for clients of 0.2 and some of 0.3.
    let router = router.route("/.well-known/agent.json", card_of_default.clone());
    let router = router.route(&format!("/a2a/{CARD}"), card_of_default);
    let router =
        both(router, "/a2a", post(handle_default_agent_json_rpc).fallback(method_not_allowed_response));
    let router = router.route("/a2a/rest/{*path}", any(handle_default_agent_rest));
    // Some clients of 0.3 request the extended card at the server's root.
    let router = router.route("/v1/card", any(get_root_extended_card));
    let router = both(router, "/a2a/agents", get(list_agents).fallback(method_not_allowed_response));
    let router =
        both(router, "/a2a/agents/{name}", post(handle_agent_json_rpc).fallback(method_not_allowed_response));
    let router = router.route("/a2a/agents/{name}/rest/{*path}", any(handle_agent_rest));
    let card_path = format!("/a2a/agents/{{name}}/{CARD}");
    let router = both(router, &card_path, get(get_agent_card).fallback(method_not_allowed_response));
    router.with_state(A2aServer::new(runtime, options))
}

async fn list_agents(State(door): State<Arc<A2aServer>>, headers: HeaderMap) -> Response {
    let base_url = http::request_base_url(&headers, &door.options);
    let programs = door.runtime.registry().list_current_programs();
    http::json_response_from(StatusCode::OK, &card_discovery::AgentList::new(&programs, &base_url))
}

async fn get_agent_card(
    State(door): State<Arc<A2aServer>>,
    name: NameParam,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    card_discovery::agent_card_response(
        &door,
        &AgentAddress::NamedAgent(agent_name_or_empty(name)),
        &headers,
        &uri,
    )
}

async fn get_default_agent_card(
    State(door): State<Arc<A2aServer>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    card_discovery::agent_card_response(&door, &AgentAddress::DefaultAgent, &headers, &uri)
}

async fn handle_agent_json_rpc(
    State(door): State<Arc<A2aServer>>,
    name: NameParam,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    jsonrpc::serve_json_rpc(&door, &AgentAddress::NamedAgent(agent_name_or_empty(name)), &head, body).await
}

async fn handle_default_agent_json_rpc(State(door): State<Arc<A2aServer>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    jsonrpc::serve_json_rpc(&door, &AgentAddress::DefaultAgent, &head, body).await
}

async fn handle_agent_rest(
    State(door): State<Arc<A2aServer>>,
    below: NameAndPathParams,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let (name, path) = below.map(|Path(below)| below).unwrap_or_default();
    http_json::serve_http_json(&door, &AgentAddress::NamedAgent(name), &path, &head, body).await
}

async fn handle_default_agent_rest(
    State(door): State<Arc<A2aServer>>,
    path: NameParam,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    http_json::serve_http_json(&door, &AgentAddress::DefaultAgent, &agent_name_or_empty(path), &head, body)
        .await
}

async fn get_root_extended_card(State(door): State<Arc<A2aServer>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    http_json::serve_http_json(&door, &AgentAddress::DefaultAgent, "v1/card", &head, body).await
}

fn agent_name_or_empty(name: NameParam) -> String {
    name.map(|Path(name)| name).unwrap_or_default()
}

/// The router adds the header that lists the allowed methods.
async fn method_not_allowed_response(method: Method) -> Response {
    let fault = A2aError::new(
        A2aErrorKind::InvalidRequest,
        ErrorCode::InvalidRequest,
        format!("{method} is not served at this address"),
        "use a method of the Allow header",
    );
    http::json_error_response(StatusCode::METHOD_NOT_ALLOWED, &fault)
}
