//! A client for agents of the A2A protocol, for 1.0 and 0.3, over JSON-RPC or, in 1.0, over HTTP+JSON,
//! both with server-sent events.
//!
//! [`Client::discover`] reads an agent's card and chooses the newest generation that both support.
//! Everything after that is the same for both. Requests are retried if that is safe. Streams
//! ([`TaskUpdateStream`]) continue after a lost connection without gap or repetition, as far as the agent makes
//! that possible.
//!
//! Requests are carried by a [`RequestTransport`]: HTTP, or whatever [`Client::with_transport`] is given.
//!
//! The answers come from arbitrary agents. Unusual forms are accepted if their meaning is clear.

mod agent_card;
mod agent_operation;
mod client_operations;
mod client_types;
mod error;
mod exchange;
mod http_json;
mod http_transport;
mod jsonrpc;
mod options;
mod protocol_binding;
mod received_task_progress;
mod remote_agent;
mod request_retry;
mod request_transport;
mod service_transport;
mod sse_connection;
mod task_update_stream;
mod wire;

use std::sync::Arc;

use reqwest::{
    StatusCode,
    header::{ETAG, IF_NONE_MATCH},
};

use self::{
    agent_card::ChosenInterface,
    remote_agent::RemoteAgent,
    request_retry::{RepeatEffect, retry_with_backoff},
};

pub use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
pub use trackway_a2a_wire::{IDEMPOTENT_MESSAGES_EXTENSION, ProtocolVersion};

pub use self::{
    agent_card::{AgentCard, AgentExtension, AgentInterface, AgentSkill},
    client_types::{
        AddressedMessage, Artifact, ArtifactId, ArtifactUpdate, File, FileSource, Message, MessageId,
        MessagePartContent, MessageRole, Part, PushAuthentication, PushConfig, SendOptions, SendReply,
        SendWait, StatusUpdate, Task, TaskPage, TaskQuery, TaskState, TaskStatus, TaskUpdate,
    },
    error::{AgentRefusal, AgentRefusalKind, ClientError},
    http_transport::HttpTransport,
    options::{Backoff, Options, RequestHeaderSource, ResendPolicy},
    protocol_binding::ProtocolBinding,
    request_transport::{
        RequestPurpose, RequestTransport, TransportBody, TransportError, TransportFuture, TransportRequest,
        TransportResponse,
    },
    service_transport::ServiceTransport,
    task_update_stream::TaskUpdateStream,
};

/// The path of a card, below the address of its agent.
const CARD_PATH: &str = ".well-known/agent-card.json";

/// Largest card that is read. Cards describe; a larger document is not one.
/// Limit (A2A): card that our client reads.
const CARD_BYTES_MAX: usize = 1024 * 1024;

/// One agent, for one caller. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    peer: Arc<RemoteAgent>,
    discovered: Option<Arc<DiscoveredCard>>,
}

/// The card that a client was created from, and its address.
#[derive(Debug)]
struct DiscoveredCard {
    url: Url,
    card: AgentCard,
}

impl Client {
    /// A client of the agent whose card is below `url`, at `.well-known/agent-card.json`, or at `url`
    /// itself if it ends that way.
    pub async fn discover(url: &str, options: Options) -> Result<Self, ClientError> {
        let transport = http_transport(&options);
        Self::discover_with_transport(parse_http_url(url)?.as_str(), transport, options).await
    }

    /// The same over another transport, for the card as well as for the requests.
    pub async fn discover_with_transport(
        url: &str,
        transport: Arc<dyn RequestTransport>,
        options: Options,
    ) -> Result<Self, ClientError> {
        let url = agent_card_url(url)?;
        let card = fetch_card(&*transport, &url, &options, None).await?;
        let card =
            card.ok_or_else(|| ClientError::malformed_response_error("the answer contains no card"))?;
        Self::from_card(url, card, transport, options)
    }

    /// A client of an agent whose card is known. The card decides about generation and binding; `url` is
    /// where it lies, or where it would.
    pub fn with_transport(
        url: &str,
        card: AgentCard,
        transport: Arc<dyn RequestTransport>,
        options: Options,
    ) -> Result<Self, ClientError> {
        Self::from_card(agent_card_url(url)?, card, transport, options)
    }

    /// A client of an agent whose card is already known, over HTTP. Addresses in the card may be relative to
    /// `url`.
    pub fn for_card(url: &str, card: AgentCard, options: Options) -> Result<Self, ClientError> {
        let transport = http_transport(&options);
        Self::from_card(parse_http_url(url)?, card, transport, options)
    }

    pub fn options(&self) -> &Options {
        &self.peer.options
    }

    /// The same agent with other settings.
    #[must_use]
    pub fn with_options(&self, options: Options) -> Self {
        Self { peer: Arc::new(self.peer.with_options(options)), discovered: self.discovered.clone() }
    }

    /// The same agent for a caller with rules of its own about repetitions: every request is sent once, and a
    /// stream ends with its connection.
    #[must_use]
    pub fn without_retries(&self) -> Self {
        self.with_options(Options { retries: 0, reconnects: 0, ..self.peer.options.clone() })
    }

    /// The same agent, with more headers on every request. A header replaces an earlier one of its name.
    #[must_use]
    pub fn with_headers(&self, headers: HeaderMap) -> Self {
        let mut options = self.peer.options.clone();
        options.headers.extend(headers);
        self.with_options(options)
    }

    /// The same agent, with one more header on every request.
    #[must_use]
    pub fn with_header(&self, name: HeaderName, value: HeaderValue) -> Self {
        self.with_headers(HeaderMap::from_iter([(name, value)]))
    }

    /// The same agent, with headers that are made for each attempt. Streams that continue have new ones too.
    #[must_use]
    pub fn with_header_source(&self, source: Arc<dyn RequestHeaderSource>) -> Self {
        let mut options = self.peer.options.clone();
        options.header_source = Some(source);
        self.with_options(options)
    }

    /// A client of an agent that uses a generation over JSON-RPC at a known address.
    pub fn for_json_rpc(
        url: &str,
        generation: ProtocolVersion,
        options: Options,
    ) -> Result<Self, ClientError> {
        Self::for_binding(ProtocolBinding::JsonRpc, url, generation, options)
    }

    /// A client of an agent with a known binding. HTTP+JSON is supported only in 1.0.
    pub fn for_binding(
        binding: ProtocolBinding,
        url: &str,
        generation: ProtocolVersion,
        options: Options,
    ) -> Result<Self, ClientError> {
        if !binding.supports_version(generation) {
            return Err(ClientError::Unsupported { operation: "speak HTTP+JSON", generation });
        }
        let choice = ChosenInterface { url: parse_http_url(url)?, binding, generation, tenant: None };
        let transport = http_transport(&options);
        Ok(Self { peer: Arc::new(RemoteAgent::new(choice, transport, options)), discovered: None })
    }

    /// The agent as its card describes it now; `None` if the card has not changed, or there is none.
    pub async fn rediscover_if_card_changed(&self) -> Result<Option<Self>, ClientError> {
        let Some(found) = &self.discovered else {
            return Ok(None);
        };
        let (options, transport) = (&self.peer.options, &self.peer.transport);
        let newer = fetch_card(&**transport, &found.url, options, found.card.etag.as_deref()).await?;
        newer
            .map(|card| Self::from_card(found.url.clone(), card, Arc::clone(transport), options.clone()))
            .transpose()
    }

    fn from_card(
        url: Url,
        card: AgentCard,
        transport: Arc<dyn RequestTransport>,
        options: Options,
    ) -> Result<Self, ClientError> {
        let choice = card.choose_interface(&url, options.sends_secrets())?;
        let found = Some(Arc::new(DiscoveredCard { url, card }));
        Ok(Self { peer: Arc::new(RemoteAgent::new(choice, transport, options)), discovered: found })
    }

    /// The card, if the client was created from one.
    pub fn agent_card(&self) -> Option<&AgentCard> {
        self.discovered.as_ref().map(|found| &found.card)
    }

    /// Whether the agent promises in its card that a repeated message starts nothing. An agent of Trackway
    /// does.
    pub fn recognises_repeated_messages(&self) -> bool {
        self.agent_card().is_some_and(|card| {
            card.extensions.iter().any(|extension| extension.uri == IDEMPOTENT_MESSAGES_EXTENSION)
        })
    }

    pub fn protocol_version(&self) -> ProtocolVersion {
        self.peer.generation
    }

    pub fn binding(&self) -> ProtocolBinding {
        self.peer.binding
    }

    /// The address for requests.
    pub fn agent_url(&self) -> &str {
        self.peer.url.as_str()
    }
}

/// Nothing follows this state. An unknown state of another agent may be any state, so it is not final.
fn is_final_task_state(state: TaskState) -> bool {
    state.is_terminal() && state != TaskState::Unknown
}

fn http_transport(options: &Options) -> Arc<dyn RequestTransport> {
    Arc::new(HttpTransport::new(options.http.clone()))
}

/// `None`: the card with that tag is still current.
async fn fetch_card(
    transport: &dyn RequestTransport,
    url: &Url,
    options: &Options,
    etag: Option<&str>,
) -> Result<Option<AgentCard>, ClientError> {
    retry_with_backoff(options, RepeatEffect::Harmless, || {
        exchange::with_timeout(options.timeout, async {
            // The newest generation: an agent with a card for each generation then returns that one.
            let mut headers = exchange::protocol_headers(ProtocolVersion::V1, options)?;
            if let Some(etag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
                headers.insert(IF_NONE_MATCH, etag);
            }
            let (method, purpose) = (Method::GET, RequestPurpose::Agent);
            let request = TransportRequest { method, url: url.clone(), headers, body: None, purpose };
            let response = exchange::send_request(transport, request, None).await?;
            if response.status == StatusCode::NOT_MODIFIED {
                return Ok(None);
            }
            let etag = response.headers.get(ETAG).and_then(|etag| etag.to_str().ok());
            let etag = etag.map(ToOwned::to_owned);
            AgentCard::parse_card(&exchange::read_response_text(response, CARD_BYTES_MAX).await?, etag)
                .map(Some)
        })
    })
    .await
}

/// The address of a card; its scheme is up to the transport.
fn agent_card_url(url: &str) -> Result<Url, ClientError> {
    let mut parsed = parse_url(url)?;
    if parsed.cannot_be_a_base() {
        return Err(invalid_address(url, "no path can follow it"));
    }
    if !parsed.path().ends_with(".json") {
        let path = format!("{}/{CARD_PATH}", parsed.path().trim_end_matches('/'));
        parsed.set_path(&path);
    }
    Ok(parsed)
}

fn parse_http_url(url: &str) -> Result<Url, ClientError> {
    let parsed = parse_url(url)?;
    match parsed.scheme() {
        "http" | "https" => Ok(parsed),
        _ => Err(invalid_address(url, "only http:// and https:// are spoken")),
    }
}

fn parse_url(url: &str) -> Result<Url, ClientError> {
    Url::parse(url).map_err(|error| invalid_address(url, &error.to_string()))
}

fn invalid_address(url: &str, why: &str) -> ClientError {
    ClientError::InvalidAddress { url: url.to_owned(), why: why.to_owned() }
}
