//! A client for agents of the A2A protocol, for 1.0 and 0.3, over JSON-RPC or, in 1.0, over HTTP+JSON,
//! both with server-sent events.
//!
//! [`Client::discover`] reads an agent's card and chooses the newest generation that both support.
//! Everything after that is the same for both. Requests are retried if that is safe. Streams
//! ([`TaskUpdateStream`]) continue after a lost connection without gap or repetition, as far as the agent makes
//! that possible.
//!
//! The answers come from arbitrary agents. Unusual forms are accepted if their meaning is clear.

mod agent_card;
mod agent_operation;
mod client_operations;
mod client_types;
mod error;
mod http;
mod http_json;
mod jsonrpc;
mod options;
mod protocol_binding;
mod received_task_progress;
mod remote_agent;
mod request_retry;
mod sse_connection;
mod task_update_stream;
mod wire;

use std::sync::Arc;

use reqwest::{
    Method, StatusCode, Url,
    header::{ETAG, IF_NONE_MATCH},
};

use self::{
    agent_card::ChosenInterface,
    remote_agent::RemoteAgent,
    request_retry::{RepeatEffect, retry_with_backoff},
};

pub use trackway_a2a_wire::ProtocolVersion;

pub use self::{
    agent_card::{AgentCard, AgentExtension, AgentInterface, AgentSkill},
    client_types::{
        AddressedMessage, Artifact, ArtifactId, ArtifactUpdate, File, FileSource, Message, MessageId,
        MessagePartContent, MessageRole, Part, PushAuthentication, PushConfig, SendOptions, SendReply,
        SendWait, StatusUpdate, Task, TaskPage, TaskQuery, TaskState, TaskStatus, TaskUpdate,
    },
    error::{AgentRefusal, AgentRefusalKind, ClientError},
    options::{Backoff, Options, ResendPolicy},
    protocol_binding::ProtocolBinding,
    task_update_stream::TaskUpdateStream,
};

/// The path of a card, below the address of its agent.
const CARD_PATH: &str = ".well-known/agent-card.json";

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
        let url = agent_card_url(url)?;
        let card = fetch_card(&url, &options, None).await?;
        let card =
            card.ok_or_else(|| ClientError::malformed_response_error("the answer contains no card"))?;
        Self::from_card(url, card, options)
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
        Ok(Self { peer: Arc::new(RemoteAgent::new(choice, options)), discovered: None })
    }

    /// The agent as its card describes it now; `None` if the card has not changed, or there is none.
    pub async fn rediscover_if_card_changed(&self) -> Result<Option<Self>, ClientError> {
        let Some(found) = &self.discovered else {
            return Ok(None);
        };
        let options = &self.peer.options;
        let newer = fetch_card(&found.url, options, found.card.etag.as_deref()).await?;
        newer.map(|card| Self::from_card(found.url.clone(), card, options.clone())).transpose()
    }

    fn from_card(url: Url, card: AgentCard, options: Options) -> Result<Self, ClientError> {
        let choice = card.choose_interface(&url, options.token.is_some())?;
        let found = Some(Arc::new(DiscoveredCard { url, card }));
        Ok(Self { peer: Arc::new(RemoteAgent::new(choice, options)), discovered: found })
    }

    /// The card, if the client was created from one.
    pub fn agent_card(&self) -> Option<&AgentCard> {
        self.discovered.as_ref().map(|found| &found.card)
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

/// `None`: the card with that tag is still current.
async fn fetch_card(
    url: &Url,
    options: &Options,
    etag: Option<&str>,
) -> Result<Option<AgentCard>, ClientError> {
    retry_with_backoff(options, RepeatEffect::Harmless, || {
        http::with_timeout(options.timeout, async {
            // The newest generation: an agent with a card for each generation then returns that one.
            let get = options.http.request(Method::GET, url.clone());
            let mut get = http::with_protocol_headers(get, ProtocolVersion::V1, options);
            if let Some(etag) = etag {
                get = get.header(IF_NONE_MATCH, etag);
            }
            let response = http::send_http_request(get, None).await?;
            if response.status() == StatusCode::NOT_MODIFIED {
                return Ok(None);
            }
            let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
            let etag = etag.map(ToOwned::to_owned);
            AgentCard::parse_card(&http::read_response_text(response).await?, etag).map(Some)
        })
    })
    .await
}

fn agent_card_url(url: &str) -> Result<Url, ClientError> {
    let mut parsed = parse_http_url(url)?;
    if !parsed.path().ends_with(".json") {
        let path = format!("{}/{CARD_PATH}", parsed.path().trim_end_matches('/'));
        parsed.set_path(&path);
    }
    Ok(parsed)
}

fn parse_http_url(url: &str) -> Result<Url, ClientError> {
    let bad = |why: &str| ClientError::InvalidAddress { url: url.to_owned(), why: why.to_owned() };
    let parsed = Url::parse(url).map_err(|error| bad(&error.to_string()))?;
    match parsed.scheme() {
        "http" | "https" => Ok(parsed),
        _ => Err(bad("only http:// and https:// are spoken")),
    }
}
