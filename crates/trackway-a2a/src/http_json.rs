//! The HTTP+JSON binding: HTTP paths and methods instead of an envelope.

mod rest_request_parsing;
mod rest_route;
mod rest_v03_calls;
mod rest_v1_calls;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use serde::Serialize;
use serde_json::Value;
use trackway_a2a_wire::JsonDialect;
use trackway_domain::ErrorCode;
use trackway_http::sse;

use crate::{
    error::{A2aError, A2aErrorKind},
    http,
    operations::{AgentCallOutcome, StreamReply, TaskEvent, TaskRef},
    protocol_version::{self, ProtocolVersion},
    server::{A2aServer, AdmittedCall, AgentAddress},
    task_event_feed::{TaskEventEncoder, TaskEventFeed},
    wire::{self, error_details::ErrorDetails},
};
use rest_route::{RestRoute, RestRouteError, parse_rest_route};

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
    let mut response = match answer_rest_request(door, address, path, head, body).await {
        Ok(response) => response,
        Err(refused) => refused.to_error_response(),
    };
    // A client that names the protocol's own type receives it; every other client receives plain JSON.
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json && sends_or_accepts_a2a_json(&head.headers) {
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

async fn answer_rest_request(
    door: &A2aServer,
    address: &AgentAddress,
    path: &str,
    head: &Parts,
    body: Body,
) -> Result<Response, RestError> {
    let headers = &head.headers;
    let asked = protocol_version::requested_version(headers, &head.uri)?;
    let RestRoute { generation, tenant, operation } =
        parse_rest_route(&head.method, path).map_err(|none| rest_route_error(&none, head))?;
    if asked.is_some_and(|asked| asked != generation) {
        return Err(protocol_version::wrong_address_error(generation).into());
    }
    let visitor = door.authenticate_headers(headers).await?;
    let body = http::read_json_body(headers, body, door.options.body_bytes_max).await?;
    if !body.is_empty() && !http::has_json_content_type(headers) {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(RestError { status, fault: http::not_json_content_type_error(), allowed: None });
    }
    let (named, call) = match generation {
        ProtocolVersion::V1 => match rest_v1_calls::parse_tenant_and_rest_call(operation, head, &body) {
            Ok((named, call)) => (named, Ok(call)),
            // Whether the caller may see the error depends on the addressed agent.
            Err(fault) => (rest_v1_calls::parse_rest_tenant(head, &body), Err(fault)),
        },
        ProtocolVersion::V03 => (None, rest_v03_calls::parse_rest_call(operation, head, &body)),
    };
    let named = named.as_deref().filter(|named| !named.is_empty());
    // Unknown callers learn nothing about errors in their requests.
    let AdmittedCall { agent, activated } = door.admit_call(address, tenant.or(named), headers, visitor)?;
    if named.is_some_and(|named| tenant.is_some_and(|tenant| tenant != named)) {
        let why = "tenant: the path names another one";
        return Err(
            A2aError::invalid_param_error("/tenant", why, "leave the tenant out of body and query").into()
        );
    }
    let outcome = agent.perform_agent_call(call?).await?;
    let mut response = match outcome {
        AgentCallOutcome::Stream(streamed, history) => {
            rest_stream_response(door, streamed, history, generation)
        }
        outcome => {
            let card = match &outcome {
                AgentCallOutcome::ExtendedCard => {
                    door.render_card(&door.build_extended_card(&*agent.program, address, headers), generation)
                }
                _ => Value::Null,
            };
            let (outcome, card) = (&outcome, &card);
            let dialect = rest_json_dialect(generation);
            http::json_response_from(StatusCode::OK, &wire::ResponseBody { outcome, card, dialect })
        }
    };
    activated.write_extensions_header(generation, response.headers_mut());
    Ok(response)
}

fn rest_stream_response(
    door: &A2aServer,
    streamed: StreamReply,
    history: usize,
    generation: ProtocolVersion,
) -> Response {
    match streamed {
        StreamReply::Task(follow) => {
            let feed = TaskEventFeed { follow: *follow, encoder: RestEventEncoder { history, generation } };
            sse::sse_stream_response(feed, door.options.frames.clone(), door.options.heartbeat)
        }
        StreamReply::Message(said) => {
            let dialect = rest_json_dialect(generation);
            sse::single_sse_event_response(|out| {
                http::append_json(out, &wire::WireStreamItem::from_direct_reply(&said, dialect))
            })
        }
    }
}

fn rest_json_dialect(generation: ProtocolVersion) -> JsonDialect {
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

impl TaskEventEncoder for RestEventEncoder {
    fn frame_cache_dialect(&self) -> &'static str {
        match self.generation {
            // The content of a JSON-RPC response is the same.
            ProtocolVersion::V1 => "1.0",
            ProtocolVersion::V03 => "0.3 HTTP+JSON",
        }
    }

    fn encode_task_event(&self, out: &mut Vec<u8>, task: &TaskRef, item: &TaskEvent) {
        let dialect = rest_json_dialect(self.generation);
        http::append_json(out, &wire::WireStreamItem::new(item, task, self.history, dialect));
    }

    fn encode_stream_error(&self, out: &mut Vec<u8>, fault: &A2aError) {
        http::append_json(out, &RestErrorBody::new(fault.kind.http_status(), fault));
    }
}

fn rest_route_error(none: &RestRouteError, head: &Parts) -> RestError {
    let method = &head.method;
    let (status, allowed, message) = match none {
        RestRouteError::UnknownPath(_) => {
            (StatusCode::NOT_FOUND, None, "no operation has this address".to_owned())
        }
        RestRouteError::MethodNotAllowed(_, allowed) => {
            let message = format!("{method} is not served at this address");
            (StatusCode::METHOD_NOT_ALLOWED, Some(*allowed), message)
        }
    };
    let next = "see the operations of the HTTP+JSON binding, for example POST message:send";
    let fault = A2aError::new(A2aErrorKind::MethodNotFound, ErrorCode::InvalidRequest, message, next);
    RestError { status, fault, allowed }
}

impl RestError {
    fn to_error_response(&self) -> Response {
        let mut response =
            http::json_response_from(self.status, &RestErrorBody::new(self.status, &self.fault));
        let headers = response.headers_mut();
        if self.fault.kind == A2aErrorKind::Unauthenticated {
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
struct RestErrorBody<'a> {
    error: RestErrorBodyContent<'a>,
}

#[derive(Serialize)]
struct RestErrorBodyContent<'a> {
    code: u16,
    status: &'static str,
    message: &'a str,
    details: ErrorDetails<'a>,
}

impl<'a> RestErrorBody<'a> {
    fn new(status: StatusCode, fault: &'a A2aError) -> Self {
        let error = RestErrorBodyContent {
            code: status.as_u16(),
            status: fault.kind.canonical_code().as_str(),
            message: &fault.message,
            details: ErrorDetails(fault),
        };
        Self { error }
    }
}

fn sends_or_accepts_a2a_json(headers: &HeaderMap) -> bool {
    [header::ACCEPT, header::CONTENT_TYPE]
        .iter()
        .flat_map(|name| headers.get_all(name))
        .any(|value| value.to_str().is_ok_and(|text| text.contains(A2A_JSON)))
}
