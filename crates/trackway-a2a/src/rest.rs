//! The HTTP+JSON binding: HTTP paths and methods instead of an envelope.

mod read;
mod route;
mod v03;
mod v1;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use serde::Serialize;
use serde_json::Value;
use trackway_a2a_wire::Dialect;
use trackway_domain::Code;
use trackway_http::sse;

use crate::{
    door::{Address, Admitted, Door},
    fault::{Fault, Kind},
    feed::{Encoder, TaskFeed},
    http,
    ops::{Item, Outcome, Place, Streamed},
    version::{self, Generation},
    wire::{self, details::Details},
};
use route::{NoRoute, Route, route};

/// The media type of 1.0, for clients that know it.
const A2A_JSON: &str = "application/a2a+json";

/// Answers one request below an agent's address. `path` is the rest after that address.
pub(crate) async fn serve(
    door: &Door,
    address: &Address,
    path: &str,
    head: &Parts,
    body: Body,
) -> Response {
    let mut response = match answer(door, address, path, head, body).await {
        Ok(response) => response,
        Err(refused) => refused.response(),
    };
    // A client that names the protocol's own type receives it; every other client receives plain JSON.
    let is_json =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json && knows_a2a_json(&head.headers) {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(A2A_JSON));
    }
    response
}

/// A request that was not executed.
struct Refused {
    status: StatusCode,
    fault: Fault,
    allowed: Option<&'static str>,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        // There is no envelope here: the request itself contains what other bindings call parameters.
        let fault = fault.below("/params");
        Self { status: fault.kind.http(), fault, allowed: None }
    }
}

async fn answer(
    door: &Door,
    address: &Address,
    path: &str,
    head: &Parts,
    body: Body,
) -> Result<Response, Refused> {
    let headers = &head.headers;
    let asked = version::asked(headers, &head.uri)?;
    let Route { generation, tenant, operation } =
        route(&head.method, path).map_err(|none| no_route(&none, head))?;
    if asked.is_some_and(|asked| asked != generation) {
        return Err(version::elsewhere(generation).into());
    }
    let visitor = door.recognise(headers).await?;
    let body = http::body(headers, body, door.options.body_bytes_max).await?;
    if !body.is_empty() && !http::is_json(headers) {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Refused { status, fault: http::not_json(), allowed: None });
    }
    let (named, call) = match generation {
        Generation::V1 => match v1::call(operation, head, &body) {
            Ok((named, call)) => (named, Ok(call)),
            // Whether the caller may see the error depends on the addressed agent.
            Err(fault) => (v1::tenant(head, &body), Err(fault)),
        },
        Generation::V03 => (None, v03::call(operation, head, &body)),
    };
    let named = named.as_deref().filter(|named| !named.is_empty());
    // Unknown callers learn nothing about errors in their requests.
    let Admitted { agent, activated } = door.admit(address, tenant.or(named), headers, visitor)?;
    if named.is_some_and(|named| tenant.is_some_and(|tenant| tenant != named)) {
        let why = "tenant: the path names another one";
        return Err(Fault::param("/tenant", why, "leave the tenant out of body and query").into());
    }
    let outcome = agent.perform(call?).await?;
    let mut response = match outcome {
        Outcome::Stream(streamed, history) => stream(door, streamed, history, generation),
        outcome => {
            let card = match &outcome {
                Outcome::ExtendedCard => {
                    door.written(&door.extended_card(&*agent.program, address, headers), generation)
                }
                _ => Value::Null,
            };
            let (outcome, card) = (&outcome, &card);
            let dialect = dialect(generation);
            http::json_of(StatusCode::OK, &wire::Answer { outcome, card, dialect })
        }
    };
    activated.tell(generation, response.headers_mut());
    Ok(response)
}

fn stream(door: &Door, streamed: Streamed, history: usize, generation: Generation) -> Response {
    match streamed {
        Streamed::Task(follow) => {
            let feed = TaskFeed { follow: *follow, encoder: Plain { history, generation } };
            sse::response(feed, door.options.frames.clone(), door.options.heartbeat)
        }
        Streamed::Message(said) => {
            let dialect = dialect(generation);
            sse::once(|out| http::write(out, &wire::StreamItem::said(&said, dialect)))
        }
    }
}

fn dialect(generation: Generation) -> Dialect {
    match generation {
        Generation::V1 => Dialect::V1,
        Generation::V03 => Dialect::V03Proto,
    }
}

/// Events without an envelope.
struct Plain {
    history: usize,
    generation: Generation,
}

impl Encoder for Plain {
    fn dialect(&self) -> &'static str {
        match self.generation {
            // The content of a JSON-RPC response is the same.
            Generation::V1 => "1.0",
            Generation::V03 => "0.3 HTTP+JSON",
        }
    }

    fn item(&self, out: &mut Vec<u8>, place: &Place, item: &Item) {
        let dialect = dialect(self.generation);
        http::write(out, &wire::StreamItem::new(item, place, self.history, dialect));
    }

    fn fault(&self, out: &mut Vec<u8>, fault: &Fault) {
        http::write(out, &Failure::new(fault.kind.http(), fault));
    }
}

fn no_route(none: &NoRoute, head: &Parts) -> Refused {
    let method = &head.method;
    let (status, allowed, message) = match none {
        NoRoute::Unknown(_) => {
            (StatusCode::NOT_FOUND, None, "no operation has this address".to_owned())
        }
        NoRoute::Method(_, allowed) => {
            let message = format!("{method} is not served at this address");
            (StatusCode::METHOD_NOT_ALLOWED, Some(*allowed), message)
        }
    };
    let next = "see the operations of the HTTP+JSON binding, for example POST message:send";
    let fault = Fault::new(Kind::MethodNotFound, Code::InvalidRequest, message, next);
    Refused { status, fault, allowed }
}

impl Refused {
    fn response(&self) -> Response {
        let mut response = http::json_of(self.status, &Failure::new(self.status, &self.fault));
        let headers = response.headers_mut();
        if self.fault.kind == Kind::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(allowed) = self.allowed {
            headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
        }
        response
    }
}

/// The canonical error model as JSON.
#[derive(Serialize)]
struct Failure<'a> {
    error: Status<'a>,
}

#[derive(Serialize)]
struct Status<'a> {
    code: u16,
    status: &'static str,
    message: &'a str,
    details: Details<'a>,
}

impl<'a> Failure<'a> {
    fn new(status: StatusCode, fault: &'a Fault) -> Self {
        let error = Status {
            code: status.as_u16(),
            status: fault.kind.canonical().as_str(),
            message: &fault.message,
            details: Details(fault),
        };
        Self { error }
    }
}

fn knows_a2a_json(headers: &HeaderMap) -> bool {
    [header::ACCEPT, header::CONTENT_TYPE]
        .iter()
        .flat_map(|name| headers.get_all(name))
        .any(|value| value.to_str().is_ok_and(|text| text.contains(A2A_JSON)))
}
