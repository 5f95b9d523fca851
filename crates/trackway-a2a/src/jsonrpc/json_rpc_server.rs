//! A JSON-RPC request from its bytes to its response.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use serde_json::{Value, value::RawValue};
use trackway_a2a_wire::JsonDialect;
use trackway_http::sse;

use super::{
    RpcParseError, RpcRequest, json_rpc_v1_calls, json_rpc_v03_calls, parse_rpc_request, rpc_error_body,
    write_rpc_response,
};
use crate::{
    authentication::AuthenticatedClient,
    error::{A2aError, A2aErrorKind},
    http,
    operations::{AgentCall, AgentCallOutcome, StreamReply, TaskEvent, TaskRef},
    protocol_version::{self, ProtocolVersion},
    server::{A2aServer, AdmittedCall, AgentAddress},
    task_event_feed::{TaskEventEncoder, TaskEventFeed},
    wire,
};

/// Answers one request at an agent's address.
pub(crate) async fn serve_json_rpc(
    door: &A2aServer,
    address: &AgentAddress,
    head: &Parts,
    body: Body,
) -> Response {
    // A body that cannot be parsed has no method; the refusal uses the form that its header names.
    let asked = protocol_version::requested_version(&head.headers, &head.uri);
    let shape = asked.as_ref().ok().copied().flatten().unwrap_or(ProtocolVersion::V03);
    let headers = &head.headers;
    if !http::has_json_content_type(headers) {
        let body = rpc_error_body(RawValue::NULL, &http::not_json_content_type_error(), shape);
        return http::json_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, body);
    }
    let visitor = match door.authenticate_headers(headers).await {
        Ok(visitor) => visitor,
        Err(fault) => return rpc_error_response(RawValue::NULL, &fault, shape),
    };
    let body = match http::read_json_body(headers, body, door.options.body_bytes_max).await {
        Ok(body) => body,
        Err(fault) => {
            return http::json_response(
                fault.kind.http_status(),
                rpc_error_body(RawValue::NULL, &fault, shape),
            );
        }
    };
    let request = match parse_rpc_request(&body) {
        Ok(request) => request,
        Err(RpcParseError { id, fault }) => {
            return http::json_response(StatusCode::OK, rpc_error_body(id, &fault, shape));
        }
    };
    let generation = match asked {
        Ok(Some(generation)) => generation,
        Ok(None) => protocol_version_of_method(&request.method),
        Err(fault) => return rpc_error_response(request.id, &fault, ProtocolVersion::V1),
    };
    match answer_json_rpc_request(door, address, visitor, &request, headers, generation).await {
        Ok(response) => response,
        Err(fault) => rpc_error_response(request.id, &fault, generation),
    }
}

/// Methods of 1.0 start with a capital, those of 0.3 do not.
fn protocol_version_of_method(method: &str) -> ProtocolVersion {
    match method.as_bytes().first() {
        Some(first) if first.is_ascii_uppercase() => ProtocolVersion::V1,
        _ => ProtocolVersion::V03,
    }
}

async fn answer_json_rpc_request(
    door: &A2aServer,
    address: &AgentAddress,
    visitor: AuthenticatedClient,
    request: &RpcRequest<'_>,
    headers: &HeaderMap,
    generation: ProtocolVersion,
) -> Result<Response, A2aError> {
    let (tenant, call): (Option<String>, Result<AgentCall, A2aError>) = match generation {
        ProtocolVersion::V03 => (None, json_rpc_v03_calls::parse_json_rpc_call(request, headers)),
        ProtocolVersion::V1 => match json_rpc_v1_calls::parse_tenant_and_json_rpc_call(request, headers) {
            Ok((tenant, call)) => (tenant, Ok(call)),
            // Whether the caller may see the error depends on the addressed agent.
            Err(fault) => (json_rpc_v1_calls::parse_json_rpc_tenant(request), Err(fault)),
        },
    };
    // Unknown callers learn nothing about errors in their requests.
    let AdmittedCall { agent, activated } = door.admit_call(address, tenant.as_deref(), headers, visitor)?;
    let call = call?;
    request.require_rpc_id()?;
    let outcome = match agent.perform_agent_call(call).await {
        // Clients of 0.3 read the answer to a resubscription as a stream, whatever it contains.
        Err(fault) if is_task_resubscription(request, generation) => {
            return Ok(sse::single_sse_event_response(|out| {
                write_rpc_response::<()>(out, request.id, Err(&fault), generation)
            }));
        }
        performed => performed?,
    };
    let mut response = match outcome {
        AgentCallOutcome::Stream(streamed, history) => {
            json_rpc_stream_response(door, request.id, streamed, history, generation)
        }
        outcome => {
            let card = match &outcome {
                AgentCallOutcome::ExtendedCard => {
                    door.render_card(&door.build_extended_card(&*agent.program, address, headers), generation)
                }
                _ => Value::Null,
            };
            http::json_response(StatusCode::OK, rpc_success_body(request.id, &outcome, &card, generation))
        }
    };
    activated.write_extensions_header(generation, response.headers_mut());
    Ok(response)
}

fn is_task_resubscription(request: &RpcRequest<'_>, generation: ProtocolVersion) -> bool {
    generation == ProtocolVersion::V03 && request.method == "tasks/resubscribe"
}

fn rpc_success_body(
    id: &RawValue,
    outcome: &AgentCallOutcome,
    card: &Value,
    generation: ProtocolVersion,
) -> Vec<u8> {
    // Most Tasks fit; the buffer grows for a longer one.
    let mut body = Vec::with_capacity(2_048);
    let dialect = json_rpc_dialect(generation);
    write_rpc_response(&mut body, id, Ok(wire::ResponseBody { outcome, card, dialect }), generation);
    body
}

fn json_rpc_stream_response(
    door: &A2aServer,
    id: &RawValue,
    streamed: StreamReply,
    history: usize,
    generation: ProtocolVersion,
) -> Response {
    match streamed {
        StreamReply::Task(follow) => {
            let encoder = RpcEventEncoder::new(id, history, generation);
            let feed = TaskEventFeed { follow: *follow, encoder };
            sse::sse_stream_response(feed, door.options.frames.clone(), door.options.heartbeat)
        }
        StreamReply::Message(said) => sse::single_sse_event_response(|out| {
            let item = wire::WireStreamItem::from_direct_reply(&said, json_rpc_dialect(generation));
            write_rpc_response(out, id, Ok(item), generation);
        }),
    }
}

fn json_rpc_dialect(generation: ProtocolVersion) -> JsonDialect {
    match generation {
        ProtocolVersion::V1 => JsonDialect::V1,
        ProtocolVersion::V03 => JsonDialect::V03,
    }
}

/// Events as responses to one request.
struct RpcEventEncoder {
    id: Box<RawValue>,
    /// A response up to its result.
    envelope_prefix: Vec<u8>,
    history: usize,
    generation: ProtocolVersion,
}

impl RpcEventEncoder {
    fn new(id: &RawValue, history: usize, generation: ProtocolVersion) -> Self {
        let before = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, id.get()).into_bytes();
        Self { id: id.to_owned(), envelope_prefix: before, history, generation }
    }
}

impl TaskEventEncoder for RpcEventEncoder {
    fn frame_cache_dialect(&self) -> &'static str {
        match self.generation {
            // Its content is the same on HTTP+JSON.
            ProtocolVersion::V1 => "1.0",
            ProtocolVersion::V03 => "0.3 JSON-RPC",
        }
    }

    fn event_envelope(&self) -> (&[u8], &[u8]) {
        (&self.envelope_prefix, b"}")
    }

    fn encode_task_event(&self, out: &mut Vec<u8>, task: &TaskRef, item: &TaskEvent) {
        let dialect = json_rpc_dialect(self.generation);
        http::append_json(out, &wire::WireStreamItem::new(item, task, self.history, dialect));
    }

    fn encode_stream_error(&self, out: &mut Vec<u8>, fault: &A2aError) {
        write_rpc_response::<()>(out, &self.id, Err(fault), self.generation);
    }
}

/// An error is an ordinary response, except for those that HTTP itself has a status for.
fn rpc_error_response(id: &RawValue, fault: &A2aError, generation: ProtocolVersion) -> Response {
    let status = match fault.kind {
        A2aErrorKind::Unauthenticated | A2aErrorKind::Forbidden | A2aErrorKind::Unavailable => {
            fault.kind.http_status()
        }
        // The address itself is wrong.
        A2aErrorKind::MethodNotFound if fault.is_unknown_agent() => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    };
    let mut response = http::json_response(status, rpc_error_body(id, fault, generation));
    if fault.kind == A2aErrorKind::Unauthenticated {
        let scheme = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}
