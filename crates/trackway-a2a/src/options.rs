//! What the door can be told by whoever opens it.

use std::{sync::Arc, time::Duration};

use axum::http::{HeaderMap, header};
use trackway_domain::Caller;
use trackway_http::sse::SharedFrames;
use trackway_ports::Gatekeeper;

use crate::{Outgoing, Signer};

/// Longer than most tasks take, and than most clients and proxies wait. Without it a send to a task that
/// never rests would keep its connection for ever.
///
/// Limit (A2A): time that a blocking send waits for its task; `[server] blocking_timeout`.
pub const BLOCKING_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10 * 60);

/// Settings of the door. The defaults suit one machine on the loopback address.
#[derive(Debug, Clone)]
pub struct Options {
    /// Largest request body. Room for a document of some megabytes in base64; a body is in memory
    /// while it is read, so this times the number of clients is what a flood can cost.
    pub body_bytes_max: usize,
    /// How long a stream stays silent before a comment is sent, so that proxies, which often cut at
    /// 30 or 60 seconds, keep the connection.
    pub heartbeat: Duration,
    /// How long a send that waits for its task waits at the most. It is answered with the task as it is
    /// then, `working` in most cases.
    pub blocking_timeout: Duration,
    /// Encoded events that slow readers share. One for all doors of a server.
    pub frames: SharedFrames,
    /// Who is calling, as long as the door asks nobody to prove it.
    pub default_caller: Caller,
    /// Recognises callers. Without one everybody is `default_caller`.
    pub gatekeeper: Option<Arc<dyn Gatekeeper>>,
    /// Whether the gatekeeper lets nobody in who says nothing, so that cards ask for a key.
    pub secured: bool,
    /// The workflow at `/a2a` and behind `/.well-known/agent-card.json`.
    pub default_agent: Option<String>,
    /// Cards as A2A's conformance suites need them, which do not say which version they mean: a reader
    /// that the suite for 1.0 uses and that names no version gets the card of 1.0 alone, and gRPC
    /// addresses in 0.3 are URLs. Official clients need neither.
    pub conformance: bool,
    /// Whether callers that are known get a card that says more than the public one.
    pub extended_card: bool,
    /// What push notifications go out through; without it there are none. The runtime's messenger is a
    /// [`Notifier`](crate::Notifier) over the same.
    pub outgoing: Option<Outgoing>,
    /// Where gRPC is served, as `host:port`, for the cards. One that stands for every address of the
    /// machine (`0.0.0.0`) is written with the host under which the reader reached the server.
    pub grpc_address: Option<String>,
    /// Whether gRPC tells tools which services and messages there are.
    pub grpc_reflection: bool,
    /// Whether cards name the address of gRPC. Some clients refuse a card with an address of another
    /// origin than its own.
    pub grpc_in_card: bool,
    /// Signs cards, where `public_url` says which addresses are ours.
    pub signer: Option<Arc<Signer>>,
    /// Begins the addresses in cards and lists, whatever a request says. Without a slash at its end.
    pub public_url: Option<String>,
    /// Begins the addresses in cards and lists when the request does not say under which name the
    /// server was reached. Without a slash at its end.
    pub base_url: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            body_bytes_max: 10 * 1024 * 1024,
            heartbeat: Duration::from_secs(15),
            blocking_timeout: BLOCKING_TIMEOUT_DEFAULT,
            frames: SharedFrames::default(),
            default_caller: Caller::local(),
            gatekeeper: None,
            secured: false,
            default_agent: None,
            conformance: false,
            extended_card: false,
            outgoing: None,
            grpc_address: None,
            grpc_reflection: false,
            grpc_in_card: true,
            signer: None,
            public_url: None,
            base_url: "http://127.0.0.1:7420".to_owned(),
        }
    }
}

/// How the suite for 1.0, which takes no field that 1.0 does not have, calls itself.
const STRICT_READER: &str = "python-httpx";

impl Options {
    /// Signs cards. Without a configured address the reader of a card chooses the addresses in it by the
    /// name under which they reached us, and nobody may have us sign those.
    pub(crate) fn signer(&self) -> Option<&Signer> {
        self.public_url.as_ref().and(self.signer.as_deref())
    }

    pub(crate) fn is_strict_reader(&self, headers: &HeaderMap) -> bool {
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        self.conformance && agent.is_some_and(|agent| agent.starts_with(STRICT_READER))
    }
}
