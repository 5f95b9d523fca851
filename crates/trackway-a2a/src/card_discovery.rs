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
use trackway_runtime::{Program, ProgramInfo, ProgramKind};

use crate::{
    Options,
    error::A2aError,
    http,
    protocol_version::{self, ProtocolVersion},
    server::{A2aServer, AgentAddress},
};

/// How long a client may cache a card. Cards change when the server is deployed again. A minute is
/// short enough to notice a change and avoids nearly all requests.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// `/a2a/agents`.
#[derive(Debug, Serialize)]
pub(crate) struct AgentList<'a> {
    agents: Vec<AgentListEntry<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentListEntry<'a> {
    name: &'a str,
    kind: &'static str,
    description: &'a str,
    url: String,
    card_url: String,
}

impl<'a> AgentList<'a> {
    pub(crate) fn new(programs: &'a [Arc<dyn Program>], base_url: &str) -> Self {
        let entry = |info: &'a ProgramInfo| {
            let url = agent_url(base_url, &info.name);
            AgentListEntry {
                name: &info.name,
                kind: match info.kind {
                    ProgramKind::Workflow => "workflow",
                    ProgramKind::Agent => "agent",
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
pub(crate) fn agent_card_response(
    door: &A2aServer,
    address: &AgentAddress,
    headers: &HeaderMap,
    uri: &Uri,
) -> Response {
    let program = match door.find_addressed_program(address, None) {
        Ok(program) => program,
        Err(fault) => return http::json_error_response(StatusCode::NOT_FOUND, &fault),
    };
    let card = door.build_card(&*program, address, headers);
    let card = match CardVersionForm::requested_card_form(headers, uri, &door.options) {
        Ok(CardVersionForm::SingleVersion(generation)) => door.render_card(&card, generation),
        Ok(CardVersionForm::BothVersions) => door.render_multi_version_card(&card),
        Err(fault) => return http::json_error_response(fault.kind.http_status(), &fault),
    };
    let body = card.to_string().into_bytes();
    let tag = body_etag(&body);
    let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|sent| if_none_match_matches(sent, &tag));
    let mut response = if known {
        let mut unchanged = Response::default();
        *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
        unchanged
    } else {
        http::json_response(StatusCode::OK, body)
    };
    let written = response.headers_mut();
    written.insert(header::CACHE_CONTROL, CACHE_CONTROL);
    written.insert(header::VARY, card_vary_header(&door.options));
    let values = [(header::ETAG, tag), (header::LAST_MODIFIED, door.opened_at.to_http_date())];
    for (name, value) in values {
        written.extend(HeaderValue::from_str(&value).ok().map(|value| (name, value)));
    }
    response
}

/// The inputs of a card: the requested form, and the address under which the client reached the server.
/// The addresses in the card start with that address.
fn card_vary_header(options: &Options) -> HeaderValue {
    HeaderValue::from_static(match options.conformance {
        false => "A2A-Version, Host, X-Forwarded-Proto",
        true => "A2A-Version, Host, X-Forwarded-Proto, User-Agent",
    })
}

/// The requested form of a card.
enum CardVersionForm {
    SingleVersion(ProtocolVersion),
    /// For clients that do not name a version.
    BothVersions,
}

impl CardVersionForm {
    fn requested_card_form(headers: &HeaderMap, uri: &Uri, options: &Options) -> Result<Self, A2aError> {
        Ok(match protocol_version::requested_version(headers, uri)? {
            Some(generation) => Self::SingleVersion(generation),
            None if options.is_conformance_client(headers) => Self::SingleVersion(ProtocolVersion::V1),
            None => Self::BothVersions,
        })
    }
}

/// The same card always has the same tag, because signatures are deterministic.
fn body_etag(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

fn if_none_match_matches(sent: &HeaderValue, tag: &str) -> bool {
    let list = sent.to_str().unwrap_or_default();
    list.split(',').any(|one| matches!(one.trim(), "*") || one.trim().trim_start_matches("W/") == tag)
}

/// The address of an agent. Names of workflows need no escaping: the registry rejects others.
fn agent_url(base_url: &str, name: &str) -> String {
    format!("{base_url}/a2a/agents/{name}")
}
