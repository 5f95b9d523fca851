//! The settings of a client: its connections, its identity, and its timeouts.

use std::{fmt, sync::Arc, time::Duration};

use reqwest::header::HeaderMap;

/// Settings of a [`Client`](super::Client).
#[derive(Clone)]
pub struct Options {
    /// Every request uses this client, so its proxy, TLS, redirect and address rules apply.
    pub http: reqwest::Client,
    /// Sent as `Authorization: Bearer …` to the agent and with the request for its card. With a token,
    /// a card that leads to another machine than its own is not followed; `Client::for_json_rpc` accepts any
    /// address.
    pub token: Option<String>,
    /// Sent with every request, also with the one for the card. They count as secrets, like the token.
    pub headers: HeaderMap,
    /// Makes headers for each attempt. They replace those of the same name.
    pub header_source: Option<Arc<dyn RequestHeaderSource>>,
    /// URIs of the extensions that the caller wants to use.
    pub extensions: Vec<String>,
    /// Longest wait for an answer, and for the start of a stream.
    pub timeout: Duration,
    /// Longest wait for the answer to a blocking send.
    pub idle_timeout: Duration,
    /// Longest silence on a stream. After it the connection counts as dead and the stream is resumed.
    /// Agents send a comment about every 15 seconds.
    pub silence_timeout: Duration,
    /// How often a request is retried after its first failure.
    pub retries: u32,
    /// How often in a row a broken stream is reopened without a new event.
    pub reconnects: u32,
    /// A connection that delivered anything and lasted this long does not count: proxies cut silent
    /// connections, and a task may be silent for hours.
    pub steady_after: Duration,
    pub backoff: Backoff,
    pub resend: ResendPolicy,
}

/// Makes headers whose value is good for a short time only, such as a signed token that expires: a stream
/// may be opened again hours after its first request.
pub trait RequestHeaderSource: fmt::Debug + Send + Sync {
    /// Called before each attempt of each request.
    fn headers_for_request(&self) -> HeaderMap;
}

/// The wait between attempts: doubled each time, minus up to half of it at random, so that many clients
/// of one agent do not return at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
}

/// When a message may be sent again, under the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResendPolicy {
    /// If no connection was established, or the answer was 429, 502, 503 or 504.
    #[default]
    WhenRefused,
    /// Also if the connection broke before the answer. The agent may already have processed the
    /// message, so this is for agents that drop repetitions by message id, as Trackway does.
    WhenLost,
}

impl Options {
    /// `http` comes from the owner of the policy for outgoing connections.
    pub fn new(http: reqwest::Client) -> Self {
        Self {
            http,
            token: None,
            headers: HeaderMap::new(),
            header_source: None,
            extensions: Vec::new(),
            timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(600),
            silence_timeout: Duration::from_secs(90),
            retries: 5,
            // With the waits below this outlasts a restart of the agent by about a minute.
            reconnects: 12,
            steady_after: Duration::from_secs(20),
            backoff: Backoff { first: Duration::from_millis(200), longest: Duration::from_secs(10) },
            resend: ResendPolicy::default(),
        }
    }

    /// Whether requests carry something that only the agent itself may see.
    pub(super) fn sends_secrets(&self) -> bool {
        self.token.is_some() || !self.headers.is_empty() || self.header_source.is_some()
    }
}

/// Everything except the token and the values of headers, which must not be logged.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("extensions", &self.extensions)
            .field("timeout", &self.timeout)
            .field("rest_timeout", &self.idle_timeout)
            .field("silence", &self.silence_timeout)
            .field("retries", &self.retries)
            .field("reconnects", &self.reconnects)
            .field("steady", &self.steady_after)
            .field("backoff", &self.backoff)
            .field("resend", &self.resend)
            .finish_non_exhaustive()
    }
}
