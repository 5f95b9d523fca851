//! What a client is told once: whose connections it uses, who it is, and how patient it is.

use std::{fmt, time::Duration};

/// Settings of a [`Client`](super::Client).
#[derive(Clone)]
pub struct Options {
    /// Every request goes through this client, so its proxy, TLS, redirect and address rules hold.
    pub http: reqwest::Client,
    /// Sent as `Authorization: Bearer …` to the agent and with the request for its card. With a token, a
    /// card that leads to another machine than its own is not followed; `Client::at` goes anywhere.
    pub token: Option<String>,
    /// URIs of the extensions that the caller wants to use.
    pub extensions: Vec<String>,
    /// Longest wait for an answer, and for the beginning of a stream.
    pub timeout: Duration,
    /// Longest wait for the answer to a send that waits for the task.
    pub rest_timeout: Duration,
    /// Longest silence on a stream; the connection is then taken for dead and the stream resumed.
    /// Agents send a comment every 15 seconds or so.
    pub silence: Duration,
    /// How often a request is tried again after its first failure.
    pub retries: u32,
    /// How often in a row a broken stream is opened again without anything new coming of it.
    pub reconnects: u32,
    /// A connection that brought anything and lasted this long does not count among those: proxies
    /// cut what is silent, and a task may say nothing for hours.
    pub steady: Duration,
    pub backoff: Backoff,
    pub resend: Resend,
}

/// Waiting between tries: doubled each time, and up to half of it left out at random, so that many
/// clients of one agent do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
}

/// When a message may be sent again, under the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resend {
    /// When no connection came about, or the answer was 429, 502, 503 or 504.
    #[default]
    Refused,
    /// Also when the connection broke before the answer. The agent may have acted on the message by
    /// then, so this is for agents that drop repetitions by message id, as Trackway does.
    Lost,
}

impl Options {
    /// `http` comes from whoever holds the policy for outgoing connections.
    pub fn new(http: reqwest::Client) -> Self {
        Self {
            http,
            token: None,
            extensions: Vec::new(),
            timeout: Duration::from_secs(30),
            rest_timeout: Duration::from_secs(600),
            silence: Duration::from_secs(90),
            retries: 5,
            // With the waits below this outlasts a restart of the agent by a minute or so.
            reconnects: 12,
            steady: Duration::from_secs(20),
            backoff: Backoff {
                first: Duration::from_millis(200),
                longest: Duration::from_secs(10),
            },
            resend: Resend::default(),
        }
    }
}

/// Everything but the token, which belongs in no log.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("extensions", &self.extensions)
            .field("timeout", &self.timeout)
            .field("rest_timeout", &self.rest_timeout)
            .field("silence", &self.silence)
            .field("retries", &self.retries)
            .field("reconnects", &self.reconnects)
            .field("steady", &self.steady)
            .field("backoff", &self.backoff)
            .field("resend", &self.resend)
            .finish_non_exhaustive()
    }
}
