//! The addresses of the door.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{HeaderMap, Method, StatusCode},
    response::Response,
    routing::{MethodRouter, get, post},
};
use serde_json::value::RawValue;
use trackway_domain::Code;
use trackway_runtime::Runtime;

use crate::{
    Options, discovery,
    fault::{Fault, Kind},
    http, identity, jsonrpc,
    ops::Agent,
    wire::v03,
};

/// What every request needs.
#[derive(Debug)]
struct Door {
    runtime: Runtime,
    options: Options,
}

/// The name in an address; one that cannot be read names nobody.
type Name = Result<Path<String>, PathRejection>;

/// Serves every registered workflow as an agent below `/a2a/agents`. Whoever serves the router sets
/// `TCP_NODELAY`: streams are many small writes.
pub fn router(runtime: Runtime, options: Options) -> Router {
    let both = |router: Router<Arc<Door>>, path: &str, methods: MethodRouter<Arc<Door>>| {
        // Some clients join addresses with a slash at the end.
        router.route(path, methods.clone()).route(&format!("{path}/"), methods)
    };
    let router = Router::new();
    let router = both(router, "/a2a/agents", get(list).fallback(method_not_allowed));
    let router = both(router, "/a2a/agents/{name}", post(call).fallback(method_not_allowed));
    let card_path = "/a2a/agents/{name}/.well-known/agent-card.json";
    let router = both(router, card_path, get(card).fallback(method_not_allowed));
    router.with_state(Arc::new(Door { runtime, options }))
}

async fn list(State(door): State<Arc<Door>>, headers: HeaderMap) -> Response {
    let base_url = http::base_url(&headers, &door.options);
    http::json_of(StatusCode::OK, &discovery::Agents::new(door.runtime.registry(), &base_url))
}

async fn card(State(door): State<Arc<Door>>, name: Name, headers: HeaderMap) -> Response {
    let name = named(&name);
    let Some(program) = door.runtime.registry().get(name) else {
        return http::refusal(StatusCode::NOT_FOUND, &door.unknown_agent(name));
    };
    let base_url = http::base_url(&headers, &door.options);
    let url = discovery::url(&base_url, name);
    http::json_of(StatusCode::OK, &v03::Card::new(program.info(), &url))
}

async fn call(State(door): State<Arc<Door>>, name: Name, request: Request) -> Response {
    let (head, body) = request.into_parts();
    match door.answer(named(&name), &head.headers, body).await {
        Ok(response) => response,
        Err((status, fault)) => http::json(status, jsonrpc::refusal(RawValue::NULL, &fault)),
    }
}

impl Door {
    /// The answer to a request, or why there was none to read.
    async fn answer(
        &self,
        name: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Response, (StatusCode, Fault)> {
        if !http::is_json(headers) {
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, http::not_json()));
        }
        let body = http::body(headers, body, self.options.body_bytes_max).await?;
        let request = match jsonrpc::parse(&body) {
            Ok(request) => request,
            Err(jsonrpc::Malformed { id, fault }) => {
                return Ok(http::json(StatusCode::OK, jsonrpc::refusal(id, &fault)));
            }
        };
        let Some(program) = self.runtime.registry().get(name) else {
            let refusal = jsonrpc::refusal(request.id, &self.unknown_agent(name));
            return Ok(http::json(StatusCode::NOT_FOUND, refusal));
        };
        let agent = Agent {
            runtime: &self.runtime,
            workflow: program.info(),
            caller: identity::caller(headers, &self.options),
        };
        Ok(jsonrpc::v03::serve(&agent, &request, headers, &self.options).await)
    }

    fn unknown_agent(&self, name: &str) -> Fault {
        let programs = self.runtime.registry().list();
        let known = programs.iter().map(|program| program.info().name.clone()).collect();
        Fault::unknown_agent(name, known)
    }
}

fn named(name: &Name) -> &str {
    name.as_ref().map_or("", |Path(name)| name)
}

/// The router adds the header that says which methods there are.
async fn method_not_allowed(method: Method) -> Response {
    let fault = Fault::new(
        Kind::InvalidRequest,
        Code::InvalidRequest,
        format!("{method} is not served at this address"),
        "use a method of the Allow header",
    );
    http::refusal(StatusCode::METHOD_NOT_ALLOWED, &fault)
}
