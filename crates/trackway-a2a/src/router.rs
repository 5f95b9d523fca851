//! The addresses of the front door.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{HeaderMap, Method, StatusCode, Uri},
    response::Response,
    routing::{MethodRouter, any, get, post},
};
use trackway_domain::Code;
use trackway_runtime::Runtime;

use crate::{
    Options, discovery,
    door::{Address, Door},
    fault::{Fault, Kind},
    http, jsonrpc, rest,
};

/// The name in an address; a name that cannot be decoded matches no agent.
type Name = Result<Path<String>, PathRejection>;
/// A name, and the path below the binding of that name.
type Below = Result<Path<(String, String)>, PathRejection>;

const CARD: &str = ".well-known/agent-card.json";

/// Serves every registered workflow as an agent below `/a2a/agents`, and the default agent at `/a2a`.
/// The caller that serves the router must set `TCP_NODELAY`: streams are many small writes.
pub fn router(runtime: Runtime, options: Options) -> Router {
    let both = |router: Router<Arc<Door>>, path: &str, methods: MethodRouter<Arc<Door>>| {
        // Some clients build addresses with a trailing slash.
        router.route(path, methods.clone()).route(&format!("{path}/"), methods)
    };
    let card_of_default = get(default_card).fallback(method_not_allowed);
    let router = Router::new().route(&format!("/{CARD}"), card_of_default.clone());
    // The address for clients of 0.2 and some of 0.3.
    let router = router.route("/.well-known/agent.json", card_of_default.clone());
    let router = router.route(&format!("/a2a/{CARD}"), card_of_default);
    let router = both(router, "/a2a", post(default_call).fallback(method_not_allowed));
    let router = router.route("/a2a/rest/{*path}", any(default_rest));
    // Some clients of 0.3 request the extended card at the server's root.
    let router = router.route("/v1/card", any(root_card));
    let router = both(router, "/a2a/agents", get(list).fallback(method_not_allowed));
    let router = both(router, "/a2a/agents/{name}", post(call).fallback(method_not_allowed));
    let router = router.route("/a2a/agents/{name}/rest/{*path}", any(rest_call));
    let card_path = format!("/a2a/agents/{{name}}/{CARD}");
    let router = both(router, &card_path, get(card).fallback(method_not_allowed));
    router.with_state(Door::new(runtime, options))
}

async fn list(State(door): State<Arc<Door>>, headers: HeaderMap) -> Response {
    let base_url = http::base_url(&headers, &door.options);
    let programs = door.runtime.registry().list();
    http::json_of(StatusCode::OK, &discovery::Agents::new(&programs, &base_url))
}

async fn card(State(door): State<Arc<Door>>, name: Name, uri: Uri, headers: HeaderMap) -> Response {
    discovery::card(&door, &Address::Agent(named(name)), &headers, &uri)
}

async fn default_card(State(door): State<Arc<Door>>, uri: Uri, headers: HeaderMap) -> Response {
    discovery::card(&door, &Address::Default, &headers, &uri)
}

async fn call(State(door): State<Arc<Door>>, name: Name, request: Request) -> Response {
    let (head, body) = request.into_parts();
    jsonrpc::serve(&door, &Address::Agent(named(name)), &head, body).await
}

async fn default_call(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    jsonrpc::serve(&door, &Address::Default, &head, body).await
}

async fn rest_call(State(door): State<Arc<Door>>, below: Below, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let (name, path) = below.map(|Path(below)| below).unwrap_or_default();
    rest::serve(&door, &Address::Agent(name), &path, &head, body).await
}

async fn default_rest(State(door): State<Arc<Door>>, path: Name, request: Request) -> Response {
    let (head, body) = request.into_parts();
    rest::serve(&door, &Address::Default, &named(path), &head, body).await
}

async fn root_card(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    rest::serve(&door, &Address::Default, "v1/card", &head, body).await
}

fn named(name: Name) -> String {
    name.map(|Path(name)| name).unwrap_or_default()
}

/// The router adds the header that lists the allowed methods.
async fn method_not_allowed(method: Method) -> Response {
    let fault = Fault::new(
        Kind::InvalidRequest,
        Code::InvalidRequest,
        format!("{method} is not served at this address"),
        "use a method of the Allow header",
    );
    http::refusal(StatusCode::METHOD_NOT_ALLOWED, &fault)
}
