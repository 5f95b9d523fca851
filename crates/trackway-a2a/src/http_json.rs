//! The HTTP+JSON binding: HTTP paths and methods instead of an envelope.

mod request_body;
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
use trackway_a2a_wire::JsonDialect;
use trackway_domain::Code;
use trackway_http::sse;

use crate::{
    error::{A2aError, ErrorKind},
    event_feed::{EventEncoder, TaskEventFeed},
    http,
    operations::{CallOutcome, StreamReply, TaskEvent, TaskRef},
    protocol_version::{self, ProtocolVersion},
    server::{A2aServer, AdmittedCall, AgentAddress},
    wire::{self, error_details::ErrorDetails},
};
use route::{RestRoute, RouteError, parse_route};

/// The media type of 1.0, for clients that know it.
const A2A_JSON: &str = "application/a2a+json";

/// Answers one request below an agent's address. `path` is the rest after that address.
pub(crate) async fn serve_http_json(
    door: &A2aServer,
    address: &AgentAddress,
    path: &str,
    head: &Parts,
    body: Body,
) -> Response {
    let mut response = match answer_request(door, address, path, head, body).await {
        Ok(response) => response,
        Err(refused) => refused.to_response(),
    };
    // A client that names the protocol's own type receives it; every other client receives plain JSON.
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json && prefers_a2a_json(&head.headers) {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(A2A_JSON));
    }
    response
}

/// A request that was not executed.
struct RestError {
    status: StatusCode,
    fault: A2aError,
    allowed: Option<&'static str>,
}

impl From<A2aError> for RestError {
    fn from(fault: A2aError) -> Self {
        // There is no envelope here: the request itself contains what other bindings call parameters.
        let fault = fault.strip_path_prefix("/params");
        Self { status: fault.kind.http_status(), fault, allowed: None }
    }
}

async fn answer_request(
    door: &A2aServer,
    address: &AgentAddress,
    path: &str,
    head: &Parts,
    body: Body,
) -> Result<Response, RestError> {
    let headers = &head.headers;
    let asked = protocol_version::requested_version(headers, &head.uri)?;
    let RestRoute { generation, tenant, operation } =
        parse_route(&head.method, path).map_err(|none| no_route_error(&none, head))?;
    if asked.is_some_and(|asked| asked != generation) {
        return Err(protocol_version::wrong_address_error(generation).into());
    }
    let visitor = door.authenticate(headers).await?;
    let body = http::read_body(headers, body, door.options.body_bytes_max).await?;
    if !body.is_empty() && !http::has_json_content_type(headers) {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(RestError { status, fault: http::not_json_error(), allowed: None });
    }
    let (named, call) = match generation {
        ProtocolVersion::V1 => match v1::parse_call(operation, head, &body) {
            Ok((named, call)) => (named, Ok(call)),
            // Whether the caller may see the error depends on the addressed agent.
            Err(fault) => (v1::parse_tenant(head, &body), Err(fault)),
        },
        ProtocolVersion::V03 => (None, v03::parse_call(operation, head, &body)),
    };
    let named = named.as_deref().filter(|named| !named.is_empty());
    // Unknown callers learn nothing about errors in their requests.
    let AdmittedCall { agent, activated } = door.admit(address, tenant.or(named), headers, visitor)?;
    if named.is_some_and(|named| tenant.is_some_and(|tenant| tenant != named)) {
        let why = "tenant: the path names another one";
        return Err(A2aError::invalid_param("/tenant", why, "leave the tenant out of body and query").into());
    }
    let outcome = agent.perform_call(call?).await?;
    let mut response = match outcome {
        CallOutcome::Stream(streamed, history) => stream_response(door, streamed, history, generation),
        outcome => {
            let card = match &outcome {
                CallOutcome::ExtendedCard => {
                    door.render_card(&door.build_extended_card(&*agent.program, address, headers), generation)
                }
                _ => Value::Null,
            };
            let (outcome, card) = (&outcome, &card);
            let dialect = json_dialect(generation);
            http::serialize_response(StatusCode::OK, &wire::ResponseBody { outcome, card, dialect })
        }
    };
    activated.write_header(generation, response.headers_mut());
    Ok(response)
}

fn stream_response(
    door: &A2aServer,
    streamed: StreamReply,
    history: usize,
    generation: ProtocolVersion,
) -> Response {
    match streamed {
        StreamReply::Task(follow) => {
            let feed = TaskEventFeed { follow: *follow, encoder: RestEventEncoder { history, generation } };
            sse::stream_response(feed, door.options.frames.clone(), door.options.heartbeat)
        }
        StreamReply::Message(said) => {
            let dialect = json_dialect(generation);
            sse::single_event_response(|out| {
                http::write_json(out, &wire::WireStreamItem::from_direct_reply(&said, dialect))
            })
        }
    }
}

fn json_dialect(generation: ProtocolVersion) -> JsonDialect {
    match generation {
        ProtocolVersion::V1 => JsonDialect::V1,
        ProtocolVersion::V03 => JsonDialect::V03Protobuf,
    }
}

/// Events without an envelope.
struct RestEventEncoder {
    history: usize,
    generation: ProtocolVersion,
}

impl EventEncoder for RestEventEncoder {
    fn cache_key(&self) -> &'static str {
        match self.generation {
            // The content of a JSON-RPC response is the same.
            ProtocolVersion::V1 => "1.0",
            ProtocolVersion::V03 => "0.3 HTTP+JSON",
        }
    }

    fn encode_event(&self, out: &mut Vec<u8>, task: &TaskRef, item: &TaskEvent) {
        let dialect = json_dialect(self.generation);
        http::write_json(out, &wire::WireStreamItem::new(item, task, self.history, dialect));
    }

    fn encode_error(&self, out: &mut Vec<u8>, fault: &A2aError) {
        http::write_json(out, &ErrorBody::new(fault.kind.http_status(), fault));
    }
}

fn no_route_error(none: &RouteError, head: &Parts) -> RestError {
    let method = &head.method;
    let (status, allowed, message) = match none {
        RouteError::UnknownPath(_) => {
            (StatusCode::NOT_FOUND, None, "no operation has this address".to_owned())
        }
        RouteError::MethodNotAllowed(_, allowed) => {
            let message = format!("{method} is not served at this address");
            (StatusCode::METHOD_NOT_ALLOWED, Some(*allowed), message)
        }
    };
    let next = "see the operations of the HTTP+JSON binding, for example POST message:send";
    let fault = A2aError::new(ErrorKind::MethodNotFound, Code::InvalidRequest, message, next);
    RestError { status, fault, allowed }
}

impl RestError {
    fn to_response(&self) -> Response {
        let mut response = http::serialize_response(self.status, &ErrorBody::new(self.status, &self.fault));
        let headers = response.headers_mut();
        if self.fault.kind == ErrorKind::Unauthenticated {
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
struct ErrorBody<'a> {
    error: ErrorBodyContent<'a>,
}

#[derive(Serialize)]
struct ErrorBodyContent<'a> {
    code: u16,
    status: &'static str,
    message: &'a str,
    details: ErrorDetails<'a>,
}

impl<'a> ErrorBody<'a> {
    fn new(status: StatusCode, fault: &'a A2aError) -> Self {
        let error = ErrorBodyContent {
            code: status.as_u16(),
            status: fault.kind.canonical_code().as_str(),
            message: &fault.message,
            details: ErrorDetails(fault),
        };
        Self { error }
    }
}

fn prefers_a2a_json(headers: &HeaderMap) -> bool {
    [header::ACCEPT, header::CONTENT_TYPE]
        .iter()
        .flat_map(|name| headers.get_all(name))
        .any(|value| value.to_str().is_ok_and(|text| text.contains(A2A_JSON)))
}
