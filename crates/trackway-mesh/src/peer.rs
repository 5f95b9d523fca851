//! One peer as callers see it.

use std::sync::Arc;

use serde_json::Value;
use trackway_a2a_client::AgentCard;
use trackway_domain::Timestamp;

use crate::PeerName;

/// Prefix of the tools that call agents.
const AGENT_TOOL_PREFIX: &str = "peer_";
/// Prefix of the tools that call workflows.
const WORKFLOW_TOOL_PREFIX: &str = "workflow_";

/// The beginnings of the names of tools that call peers.
pub const PEER_TOOL_PREFIXES: [&str; 2] = [AGENT_TOOL_PREFIX, WORKFLOW_TOOL_PREFIX];

/// An agent of another process, as it is known now. It contains no secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    /// Unique among the peers that one tenant sees.
    pub name: PeerName,
    pub kind: PeerKind,
    /// The base under which its card lies, as it was given.
    pub url: String,
    /// The newest card. `None` if none was ever read.
    pub card: Option<Arc<AgentCard>>,
    pub health: PeerHealth,
    /// The time of the last answer.
    pub last_seen: Option<Timestamp>,
    /// Why the last attempt failed; `None` after a success.
    pub error: Option<String>,
    pub source: PeerSource,
    /// The name that it would have if another peer did not have it.
    pub renamed_from: Option<PeerName>,
    /// Whose it is: a peer that a tenant added is visible to that tenant only. `None`: visible to all.
    pub tenant: Option<String>,
}

/// What a peer is, by the extensions of its card. A peer without a card counts as an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum PeerKind {
    /// Takes messages; with a schema, messages of that form.
    Agent { input_schema: Option<Arc<Value>> },
    /// Takes an input of this schema and returns a result.
    Workflow { input_schema: Arc<Value>, output_schema: Option<Arc<Value>> },
}

/// Whether a peer answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerHealth {
    /// It answered, and has not failed three times since.
    Up,
    /// Three refreshes in a row have failed. Its tool is not offered until it answers again.
    Down,
    /// Nobody has asked it, or it has not answered yet.
    Unknown,
}

/// Who named a peer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PeerSource {
    /// `[[peers]]` of `trackway.toml`.
    Configured,
    /// `trackway peers add` or `POST /api/peers`.
    Added,
    /// Discovery of this name, such as `nats`.
    Discovered(Arc<str>),
}

impl Peer {
    /// Whether agents are offered its tool: its card is known, and it is not down.
    pub fn is_callable(&self) -> bool {
        self.card.is_some() && self.health != PeerHealth::Down
    }

    /// The name of its tool before it is made unique among the tools of an agent; `None` until its card is
    /// known.
    pub fn tool_name(&self) -> Option<String> {
        self.card.as_ref()?;
        let prefix = match self.kind {
            PeerKind::Agent { .. } => AGENT_TOOL_PREFIX,
            PeerKind::Workflow { .. } => WORKFLOW_TOOL_PREFIX,
        };
        Some(format!("{prefix}{}", self.name))
    }
}

impl PeerKind {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Agent { .. } => "agent",
            Self::Workflow { .. } => "workflow",
        }
    }
}

impl PeerHealth {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Unknown => "unknown",
        }
    }
}
