//! The settings of the front door.

use std::{sync::Arc, time::Duration};

use axum::http::{HeaderMap, header};
use trackway_artifacts::ArtifactService;
use trackway_domain::Caller;
use trackway_http::sse::SharedFrameCache;
use trackway_ports::Authenticator;

use crate::{CardSigner, FileFetcher, PushSender};

/// Longer than most tasks take, and than most clients and proxies wait. Without it a send to a task
/// that never rests would keep its connection forever.
///
/// Limit (A2A): time that a blocking send waits for its task; `[server] blocking_timeout`.
pub const BLOCKING_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10 * 60);

/// More than a sensible chain of agents needs. A ring of agents that call each other ends here.
///
/// Limit (A2A): agents that may have called each other before a task starts; `[mesh] max_depth`.
pub const CALL_DEPTH_MAX_DEFAULT: u32 = 8;

/// Settings of the front door. The defaults suit one machine on the loopback address.
#[derive(Debug, Clone)]
pub struct Options {
    /// Largest request body. It has room for a document of some megabytes in base64. A body is in
    /// memory while it is read, so a flood can cost this size times the number of clients.
    pub body_bytes_max: usize,
    /// How long a stream stays silent before a comment is sent. Proxies often cut silent connections
    /// after 30 or 60 seconds.
    pub heartbeat: Duration,
    /// How long a blocking send waits for its task at most. The answer is then the current task,
    /// usually `working`.
    pub blocking_timeout: Duration,
    /// Encoded events that slow readers share. One for all front doors of a server.
    pub frames: SharedFrameCache,
    /// The caller if there is no authentication.
    pub default_caller: Caller,
    /// Authenticates callers. Without it every caller is `default_caller`.
    pub gatekeeper: Option<Arc<dyn Authenticator>>,
    /// Whether the gatekeeper rejects anonymous callers, so that cards require a key.
    pub secured: bool,
    /// The workflow at `/a2a` and behind `/.well-known/agent-card.json`.
    pub default_agent: Option<String>,
    /// Cards in the form that A2A's conformance suites need, which do not name their version. The
    /// reader of the suite for 1.0 names no version and receives the card of 1.0 alone, and gRPC
    /// addresses in 0.3 are URLs. Official clients need neither.
    pub conformance: bool,
    /// Whether authenticated callers receive a card with more content than the public one.
    pub extended_card: bool,
    /// The client for push notifications; without it there are none. The runtime's messenger is a
    /// [`PushNotifier`](crate::PushNotifier) over the same client.
    pub outgoing: Option<PushSender>,
    /// Where the artifacts are that a message names; without it there are none.
    pub artifacts: Option<Arc<ArtifactService>>,
    /// Reads files that a message names by their address; without it no such file is read.
    pub files: Option<FileFetcher>,
    /// How many agents may have called each other before a task starts.
    pub call_depth_max: u32,
    /// The address of gRPC, as `host:port`, for the cards. An address that means every interface of the
    /// machine (`0.0.0.0`) is replaced with the host under which the reader reached the server.
    pub grpc_address: Option<String>,
    /// Whether gRPC reflection is enabled.
    pub grpc_reflection: bool,
    /// Whether cards name the address of gRPC. Some clients reject a card with an address of another
    /// origin.
    pub grpc_in_card: bool,
    /// Signs cards, if `public_url` defines our addresses.
    pub signer: Option<Arc<CardSigner>>,
    /// The prefix of the addresses in cards and lists, for every request. Without a trailing slash.
    pub public_url: Option<String>,
    /// The prefix of the addresses in cards and lists if the request does not contain the name under
    /// which the client reached the server. Without a trailing slash.
    pub base_url: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            body_bytes_max: 10 * 1024 * 1024,
            heartbeat: Duration::from_secs(15),
            blocking_timeout: BLOCKING_TIMEOUT_DEFAULT,
            frames: SharedFrameCache::default(),
            default_caller: Caller::local_without_auth(),
            gatekeeper: None,
            secured: false,
            default_agent: None,
            conformance: false,
            extended_card: false,
            outgoing: None,
            artifacts: None,
            files: None,
            call_depth_max: CALL_DEPTH_MAX_DEFAULT,
            grpc_address: None,
            grpc_reflection: false,
            grpc_in_card: true,
            signer: None,
            public_url: None,
            base_url: "http://127.0.0.1:7420".to_owned(),
        }
    }
}

/// The name of the suite for 1.0, which accepts only fields of 1.0.
const STRICT_READER: &str = "python-httpx";

impl Options {
    /// Signs cards. Without a configured address the host header of a request would determine the
    /// addresses in a card, and we must not sign addresses that a caller chose.
    pub(crate) fn card_signer(&self) -> Option<&CardSigner> {
        self.public_url.as_ref().and(self.signer.as_deref())
    }

    pub(crate) fn is_conformance_client(&self, headers: &HeaderMap) -> bool {
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        self.conformance && agent.is_some_and(|agent| agent.starts_with(STRICT_READER))
    }
}
