//! `[mesh]` and `[[peers]]` as values.

use std::{collections::BTreeMap, fmt, time::Duration};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use trackway_domain::matches_wildcard;

use crate::{NodePublicKey, PeerError, PeerName};

/// How often cards are read again by default.
/// Limit (Mesh): time between two reads of a peer's card; `[mesh] refresh`.
const REFRESH_DEFAULT: Duration = Duration::from_secs(30);
/// Limit (Mesh): how long a broken connection to a remote task is tried again; `[mesh] reconnect`.
const RECONNECT_DEFAULT: Duration = Duration::from_secs(30);
/// Limit (Mesh): time between two updates of a remote call; `[mesh] timeout`.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(600);
/// Limit (Mesh): agents that call each other in one chain; `[mesh] max_depth`.
const DEPTH_MAX_DEFAULT: u32 = 8;
/// The namespace of nodes that name none.
const NAMESPACE_DEFAULT: &str = "trackway";

/// Headers that would change how a request is read or answered.
const RESERVED_HEADERS: [&str; 9] = [
    "a2a-version",
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "if-none-match",
    "te",
    "transfer-encoding",
];

/// `[mesh]`: how this node works with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshOptions {
    /// How often cards are read again.
    pub refresh: Duration,
    /// How long a broken connection to a remote task is tried again.
    pub reconnect: Duration,
    /// Longest silence of a remote call.
    pub timeout: Duration,
    /// Longest chain of agents that call each other.
    pub max_depth: u32,
    /// Patterns of names or addresses. An empty list allows everything.
    pub allow: Vec<String>,
    /// Patterns of names or addresses that are left out, even if `allow` has them.
    pub deny: Vec<String>,
    /// The group of nodes that find each other over NATS.
    pub namespace: String,
    /// Public keys of the nodes whose statements about callers are believed.
    pub trust: Vec<NodePublicKey>,
}

impl Default for MeshOptions {
    fn default() -> Self {
        Self {
            refresh: REFRESH_DEFAULT,
            reconnect: RECONNECT_DEFAULT,
            timeout: TIMEOUT_DEFAULT,
            max_depth: DEPTH_MAX_DEFAULT,
            allow: Vec::new(),
            deny: Vec::new(),
            namespace: NAMESPACE_DEFAULT.to_owned(),
            trust: Vec::new(),
        }
    }
}

impl MeshOptions {
    /// Whether a peer with this name and address may be used. A pattern with `://` is about addresses, any
    /// other about names.
    pub fn allows_peer(&self, name: &str, url: &str) -> bool {
        let matches = |pattern: &String| {
            let subject = if pattern.contains("://") { url } else { name };
            matches_wildcard(pattern, subject)
        };
        let allowed = self.allow.is_empty() || self.allow.iter().any(matches);
        allowed && !self.deny.iter().any(matches)
    }

    /// Whether a peer at this address is excluded whatever its name.
    pub(crate) fn denies_url(&self, url: &str) -> bool {
        self.deny.iter().any(|pattern| pattern.contains("://") && matches_wildcard(pattern, url))
    }
}

/// One entry of `[[peers]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfiguredPeer {
    /// The name from its card, if absent.
    pub name: Option<PeerName>,
    pub address: PeerAddress,
    pub credentials: PeerCredentials,
}

/// Where a peer's card is.
#[derive(Debug, Clone, PartialEq)]
pub enum PeerAddress {
    /// Below this base, at `.well-known/agent-card.json`.
    Base(String),
    /// Here; it is never read again. Its addresses are absolute.
    StaticCard(Value),
}

/// What a peer gets to see of us with every request. Secret: not printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PeerCredentials {
    /// Sent as `Authorization: Bearer …`.
    pub key: Option<String>,
    /// By name.
    pub headers: BTreeMap<String, String>,
}

impl PeerCredentials {
    pub fn is_empty(&self) -> bool {
        self.key.is_none() && self.headers.is_empty()
    }

    /// The headers as they are sent.
    pub fn header_map(&self) -> Result<HeaderMap, PeerError> {
        let mut map = HeaderMap::new();
        for (name, value) in &self.headers {
            let invalid = |reason| PeerError::InvalidHeader { name: name.clone(), reason };
            let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("it is not a name"))?;
            if RESERVED_HEADERS.contains(&parsed.as_str()) {
                return Err(invalid("it belongs to the protocol"));
            }
            if parsed == AUTHORIZATION && self.key.is_some() {
                return Err(invalid("the key is already sent under this name"));
            }
            let mut value =
                HeaderValue::from_str(value).map_err(|_| invalid("its value is not plain text"))?;
            value.set_sensitive(true);
            map.insert(parsed, value);
        }
        if let Some(key) = &self.key {
            let reason = "the key is not plain text";
            let invalid = |_| PeerError::InvalidHeader { name: AUTHORIZATION.to_string(), reason };
            HeaderValue::from_str(&format!("Bearer {key}")).map_err(invalid)?;
        }
        Ok(map)
    }
}

impl fmt::Debug for PeerCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerCredentials")
            .field("key", &self.key.as_ref().map(|_| "…"))
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish()
    }
}
