//! The current state that agents share. A turn reads it before every model call.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use trackway_domain::{Caller, matches_wildcard};
use trackway_runtime::{Program, Tool, ToolSource, ToolSourceSnapshot, UnavailableTool};

use crate::{AgentSpec, ModelProvider, SERVER_SEPARATOR, TokenUsage, Toolset, toolset::ToolsetCache};

/// How long a dispatch waits for a workflow's first answer, unless the workspace sets another time.
/// Limit (Agents): wait for the first answer of a dispatched workflow; `[dispatch] first_answer_timeout`.
pub const FIRST_ANSWER_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);

/// The state that agents share. Its content is replaced when the workspace changes.
#[derive(Debug, Default)]
pub struct AgentResources {
    /// Locked only to read or replace the whole.
    snapshot: RwLock<Arc<ResourcesSnapshot>>,
    /// The tools of peers. Locked only to read or replace it.
    tool_source: RwLock<Option<Arc<dyn ToolSource>>>,
    /// What agents have without a source; one allocation, since sets are kept by it.
    no_peer_tools: Arc<ToolSourceSnapshot>,
    toolsets: ToolsetCache,
}

/// The shared state at one moment.
#[derive(Debug, Clone)]
pub struct ResourcesSnapshot {
    /// By the name that agents use.
    pub models: BTreeMap<String, ConfiguredModel>,
    /// The model of agents that name none.
    pub default_model: String,
    /// Every tool that an agent may be allowed.
    pub tools: Vec<Arc<dyn Tool>>,
    pub first_answer_timeout: Duration,
    /// Tool servers that are not running: the prefix of their tools' names, and the reason.
    pub servers_down: BTreeMap<String, String>,
}

/// A model that agents can use.
#[derive(Debug, Clone)]
pub struct ConfiguredModel {
    pub provider: Arc<dyn ModelProvider>,
    pub price: Option<TokenPrice>,
}

/// The price of a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenPrice {
    pub input: f64,
    pub output: f64,
}

const MILLION: f64 = 1_000_000.0;

impl TokenPrice {
    /// The cost of a call.
    #[expect(clippy::cast_precision_loss, reason = "nobody pays for 2^52 tokens at once")]
    pub fn cost_of_usage(&self, usage: TokenUsage) -> f64 {
        (usage.input_tokens as f64 * self.input + usage.output_tokens as f64 * self.output) / MILLION
    }
}

impl Default for ResourcesSnapshot {
    fn default() -> Self {
        Self {
            models: BTreeMap::new(),
            default_model: String::new(),
            tools: Vec::new(),
            first_answer_timeout: FIRST_ANSWER_TIMEOUT_DEFAULT,
            servers_down: BTreeMap::new(),
        }
    }
}

impl ResourcesSnapshot {
    /// Why a tool of that name is missing, if it belongs to a server that is not running.
    pub(crate) fn missing_tool_reason(&self, tool: &str) -> Option<String> {
        let (prefix, _) = tool.split_once(SERVER_SEPARATOR)?;
        let (server, reason) = self.servers_down.get_key_value(prefix)?;
        Some(format!("The MCP server `{server}` of the tool {tool:?} is not running: {reason}"))
    }

    /// The model of that name, or the default model; else an error with the known names.
    pub fn find_model_or_default(&self, name: Option<&str>) -> Result<&ConfiguredModel, UnknownModelError> {
        let name = name.unwrap_or(&self.default_model);
        self.models.get(name).ok_or_else(|| UnknownModelError {
            name: name.to_owned(),
            known: self.models.keys().cloned().collect(),
        })
    }
}

/// There is no such model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no model {name:?} (there are: {})", known.join(", "))]
pub struct UnknownModelError {
    pub name: String,
    pub known: Vec<String>,
}

impl AgentResources {
    pub fn new(stock: ResourcesSnapshot) -> Self {
        Self { snapshot: RwLock::new(Arc::new(stock)), ..Self::default() }
    }

    /// The current state.
    pub fn current_snapshot(&self) -> Arc<ResourcesSnapshot> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tools of an agent, from this state, these tools of peers and these programs.
    pub(crate) fn toolset_for_agent(
        &self,
        spec: &Arc<AgentSpec>,
        snapshot: &Arc<ResourcesSnapshot>,
        peer_tools: &Arc<ToolSourceSnapshot>,
        programs: &[Arc<dyn Program>],
    ) -> Arc<Toolset> {
        self.toolsets.get_or_build_toolset(spec, snapshot, peer_tools, programs)
    }

    /// From now on agents are offered the tools of this source, as far as their `peers` select them.
    pub fn set_tool_source(&self, source: Arc<dyn ToolSource>) {
        *self.tool_source.write().unwrap_or_else(PoisonError::into_inner) = Some(source);
    }

    /// The tools of peers that the caller may use now.
    pub(crate) fn peer_tools_for_caller(&self, caller: &Caller) -> Arc<ToolSourceSnapshot> {
        match self.current_tool_source() {
            Some(source) => source.tools_for_caller(caller),
            None => self.no_peer_tools.clone(),
        }
    }

    /// The tool of a peer, even if it is not offered now.
    pub(crate) fn find_peer_tool(&self, caller: &Caller, peer: &str) -> Option<Arc<dyn Tool>> {
        self.current_tool_source()?.find_peer_tool(caller, peer)
    }

    fn current_tool_source(&self) -> Option<Arc<dyn ToolSource>> {
        self.tool_source.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn replace_snapshot(&self, snapshot: ResourcesSnapshot) {
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }
}

/// Why a tool of that name is missing, if the agent may call its peer and the peer is down.
pub(crate) fn missing_peer_tool_reason(
    spec: &AgentSpec,
    peer_tools: &ToolSourceSnapshot,
    tool: &str,
) -> Option<String> {
    let UnavailableTool { peer, reason } = peer_tools.unavailable.get(tool)?;
    let is_selected = spec.peers.iter().any(|pattern| matches_wildcard(pattern, peer));
    is_selected.then(|| format!("The peer `{peer}` of the tool {tool:?} is not available: {reason}"))
}
