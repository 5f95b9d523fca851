//! The list of agents, and the card of each.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::Response,
};
use serde::Serialize;
use trackway_runtime::{Kind, Program, ProgramInfo};

use crate::{
    Options,
    door::{Address, Door},
    fault::Fault,
    http,
    version::{self, Generation},
};

/// How long a client may cache a card. Cards change when the server is deployed again. A minute is
/// short enough to notice a change and avoids nearly all requests.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// `/a2a/agents`.
#[derive(Debug, Serialize)]
pub(crate) struct Agents<'a> {
    agents: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    name: &'a str,
    kind: &'static str,
    description: &'a str,
    url: String,
    card_url: String,
}

impl<'a> Agents<'a> {
    pub(crate) fn new(programs: &'a [Arc<dyn Program>], base_url: &str) -> Self {
        let entry = |info: &'a ProgramInfo| {
            let url = url(base_url, &info.name);
            Entry {
                name: &info.name,
                kind: match info.kind {
                    Kind::Workflow => "workflow",
                    Kind::Agent => "agent",
                },
                description: &info.description,
                card_url: format!("{url}/.well-known/agent-card.json"),
                url,
            }
        };
        Self { agents: programs.iter().map(|program| entry(program.info())).collect() }
    }
}

/// The card of an agent, with cache headers.
pub(crate) fn card(door: &Door, address: &Address, headers: &HeaderMap, uri: &Uri) -> Response {
    let program = match door.addressed(address, None) {
        Ok(program) => program,
        Err(fault) => return http::refusal(StatusCode::NOT_FOUND, &fault),
    };
    let card = door.card(&*program, address, headers);
    let card = match Form::of(headers, uri, &door.options) {
        Ok(Form::One(generation)) => door.written(&card, generation),
        Ok(Form::Union) => door.written_for_all(&card),
        Err(fault) => return http::refusal(fault.kind.http(), &fault),
    };
    let body = card.to_string().into_bytes();
    let tag = tag(&body);
    let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|sent| matches(sent, &tag));
    let mut response = if known {
        let mut unchanged = Response::default();
        *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
        unchanged
    } else {
        http::json(StatusCode::OK, body)
    };
    let written = response.headers_mut();
    written.insert(header::CACHE_CONTROL, CACHE_CONTROL);
    written.insert(header::VARY, vary(&door.options));
    let values = [(header::ETAG, tag), (header::LAST_MODIFIED, door.opened_at.http_date())];
    for (name, value) in values {
        written.extend(HeaderValue::from_str(&value).ok().map(|value| (name, value)));
    }
    response
}

/// The inputs of a card: the requested form, and the address under which the client reached the server.
/// The addresses in the card start with that address.
fn vary(options: &Options) -> HeaderValue {
    HeaderValue::from_static(match options.conformance {
        false => "A2A-Version, Host, X-Forwarded-Proto",
        true => "A2A-Version, Host, X-Forwarded-Proto, User-Agent",
    })
}

/// The requested form of a card.
enum Form {
    One(Generation),
    /// For clients that do not name a version.
    Union,
}

impl Form {
    fn of(headers: &HeaderMap, uri: &Uri, options: &Options) -> Result<Self, Fault> {
        Ok(match version::asked(headers, uri)? {
            Some(generation) => Self::One(generation),
            None if options.is_strict_reader(headers) => Self::One(Generation::V1),
            None => Self::Union,
        })
    }
}

/// The same card always has the same tag, because signatures are deterministic.
fn tag(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

fn matches(sent: &HeaderValue, tag: &str) -> bool {
    let list = sent.to_str().unwrap_or_default();
    list.split(',')
        .any(|one| matches!(one.trim(), "*") || one.trim().trim_start_matches("W/") == tag)
}

/// The address of an agent. Names of workflows need no escaping: the registry rejects others.
fn url(base_url: &str, name: &str) -> String {
    format!("{base_url}/a2a/agents/{name}")
}
