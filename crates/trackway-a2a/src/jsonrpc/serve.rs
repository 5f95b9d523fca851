//! A JSON-RPC request from its bytes to its response.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use serde_json::{Value, value::RawValue};
use trackway_a2a_wire::Dialect;
use trackway_http::sse;

use super::{Malformed, Request, parse, refusal, v1, v03, write};
use crate::{
    door::{Address, Admitted, Door},
    fault::{Fault, Kind},
    feed::{Encoder, TaskFeed},
    http,
    identity::Visitor,
    ops::{Call, Item, Outcome, Place, Streamed},
    version::{self, Generation},
    wire,
};

/// Answers one request at an agent's address.
pub(crate) async fn serve(door: &Door, address: &Address, head: &Parts, body: Body) -> Response {
    // A body that cannot be parsed has no method; the refusal uses the form that its header names.
    let asked = version::asked(&head.headers, &head.uri);
    let shape = asked.as_ref().ok().copied().flatten().unwrap_or(Generation::V03);
    let headers = &head.headers;
    if !http::is_json(headers) {
        let body = refusal(RawValue::NULL, &http::not_json(), shape);
        return http::json(StatusCode::UNSUPPORTED_MEDIA_TYPE, body);
    }
    let visitor = match door.recognise(headers).await {
        Ok(visitor) => visitor,
        Err(fault) => return refused(RawValue::NULL, &fault, shape),
    };
    let body = match http::body(headers, body, door.options.body_bytes_max).await {
        Ok(body) => body,
        Err(fault) => return http::json(fault.kind.http(), refusal(RawValue::NULL, &fault, shape)),
    };
    let request = match parse(&body) {
        Ok(request) => request,
        Err(Malformed { id, fault }) => {
            return http::json(StatusCode::OK, refusal(id, &fault, shape));
        }
    };
    let generation = match asked {
        Ok(Some(generation)) => generation,
        Ok(None) => generation_of(&request.method),
        Err(fault) => return refused(request.id, &fault, Generation::V1),
    };
    match answer(door, address, visitor, &request, headers, generation).await {
        Ok(response) => response,
        Err(fault) => refused(request.id, &fault, generation),
    }
}

/// Methods of 1.0 start with a capital, those of 0.3 do not.
fn generation_of(method: &str) -> Generation {
    match method.as_bytes().first() {
        Some(first) if first.is_ascii_uppercase() => Generation::V1,
        _ => Generation::V03,
    }
}

async fn answer(
    door: &Door,
    address: &Address,
    visitor: Visitor,
    request: &Request<'_>,
    headers: &HeaderMap,
    generation: Generation,
) -> Result<Response, Fault> {
    let (tenant, call): (Option<String>, Result<Call, Fault>) = match generation {
        Generation::V03 => (None, v03::call(request, headers)),
        Generation::V1 => match v1::call(request, headers) {
            Ok((tenant, call)) => (tenant, Ok(call)),
            // Whether the caller may see the error depends on the addressed agent.
            Err(fault) => (v1::tenant(request), Err(fault)),
        },
    };
    // Unknown callers learn nothing about errors in their requests.
    let Admitted { agent, activated } = door.admit(address, tenant.as_deref(), headers, visitor)?;
    let call = call?;
    request.check_id()?;
    let outcome = match agent.perform(call).await {
        // Clients of 0.3 read the answer to a resubscription as a stream, whatever it contains.
        Err(fault) if is_resubscription(request, generation) => {
            return Ok(sse::once(|out| write::<()>(out, request.id, Err(&fault), generation)));
        }
        performed => performed?,
    };
    let mut response = match outcome {
        Outcome::Stream(streamed, history) => {
            stream(door, request.id, streamed, history, generation)
        }
        outcome => {
            let card = match &outcome {
                Outcome::ExtendedCard => {
                    door.written(&door.extended_card(&*agent.program, address, headers), generation)
                }
                _ => Value::Null,
            };
            http::json(StatusCode::OK, success(request.id, &outcome, &card, generation))
        }
    };
    activated.tell(generation, response.headers_mut());
    Ok(response)
}

fn is_resubscription(request: &Request<'_>, generation: Generation) -> bool {
    generation == Generation::V03 && request.method == "tasks/resubscribe"
}

fn success(id: &RawValue, outcome: &Outcome, card: &Value, generation: Generation) -> Vec<u8> {
    // Most Tasks fit; the buffer grows for a longer one.
    let mut body = Vec::with_capacity(2_048);
    let dialect = dialect(generation);
    write(&mut body, id, Ok(wire::Answer { outcome, card, dialect }), generation);
    body
}

fn stream(
    door: &Door,
    id: &RawValue,
    streamed: Streamed,
    history: usize,
    generation: Generation,
) -> Response {
    match streamed {
        Streamed::Task(follow) => {
            let encoder = Envelope::new(id, history, generation);
            let feed = TaskFeed { follow: *follow, encoder };
            sse::response(feed, door.options.frames.clone(), door.options.heartbeat)
        }
        Streamed::Message(said) => sse::once(|out| {
            let item = wire::StreamItem::said(&said, dialect(generation));
            write(out, id, Ok(item), generation);
        }),
    }
}

fn dialect(generation: Generation) -> Dialect {
    match generation {
        Generation::V1 => Dialect::V1,
        Generation::V03 => Dialect::V03,
    }
}

/// Events as responses to one request.
struct Envelope {
    id: Box<RawValue>,
    /// A response up to its result.
    before: Vec<u8>,
    history: usize,
    generation: Generation,
}

impl Envelope {
    fn new(id: &RawValue, history: usize, generation: Generation) -> Self {
        let before = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, id.get()).into_bytes();
        Self { id: id.to_owned(), before, history, generation }
    }
}

impl Encoder for Envelope {
    fn dialect(&self) -> &'static str {
        match self.generation {
            // Its content is the same on HTTP+JSON.
            Generation::V1 => "1.0",
            Generation::V03 => "0.3 JSON-RPC",
        }
    }

    fn around(&self) -> (&[u8], &[u8]) {
        (&self.before, b"}")
    }

    fn item(&self, out: &mut Vec<u8>, place: &Place, item: &Item) {
        let dialect = dialect(self.generation);
        http::write(out, &wire::StreamItem::new(item, place, self.history, dialect));
    }

    fn fault(&self, out: &mut Vec<u8>, fault: &Fault) {
        write::<()>(out, &self.id, Err(fault), self.generation);
    }
}

/// An error is an ordinary response, except for those that HTTP itself has a status for.
fn refused(id: &RawValue, fault: &Fault, generation: Generation) -> Response {
    let status = match fault.kind {
        Kind::Unauthenticated | Kind::Forbidden | Kind::Unavailable => fault.kind.http(),
        // The address itself is wrong.
        Kind::MethodNotFound if fault.is_unknown_agent() => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    };
    let mut response = http::json(status, refusal(id, fault, generation));
    if fault.kind == Kind::Unauthenticated {
        let scheme = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}
