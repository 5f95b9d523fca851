//! Agents of a server: each is a program, and the set follows its configuration.
//!
//! Agents share their resources (models and tools). A change of the workspace replaces these, and the next
//! model call uses the new ones. A changed agent is a new version of its program: new turns use it, and
//! turns in flight continue with the version that they began with.

#[cfg(test)]
mod tests;

use std::{
    any::Any,
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use tokio::{sync::watch, task::JoinHandle};
use trackway_agent::{
    AgentProgram, AgentResources, AgentSpec, BuiltInTools, McpConfig, McpServers, ResourcesSnapshot,
};
use trackway_artifacts::ArtifactService;
use trackway_mesh::{MeshConfiguration, PeerRegistry, PeerTools};
use trackway_runtime::{ProgramRegistry, SystemClock, Tool};

use super::{Server, ServerError, server_definitions::ServerDefinitions};

/// How long a start waits for MCP servers. Unfinished turns continue immediately and may need these tools.
/// The start does not wait longer than this.
/// Limit (Tools): time that a start waits for tool servers.
const SERVERS_START_MAX: Duration = Duration::from_secs(10);

/// The agents, and what they share.
#[derive(Debug, Clone, Default)]
pub struct AgentSet {
    pub specs: Vec<AgentSpec>,
    /// Models, and tools in addition to those of the server.
    pub resources: ResourcesSnapshot,
    /// Servers of further tools.
    pub mcp: McpConfig,
    /// The working folder of those servers, unless they name another one.
    pub folder: PathBuf,
    /// The agent at the addresses that name no agent; the default is the first one.
    pub default_agent: Option<String>,
    /// `[mesh]` and `[[peers]]`, which are in the same file.
    pub mesh: MeshConfiguration,
}

impl Server {
    /// Serves these agents. Each may dispatch the server's workflows and call its tools, as far as its
    /// spec allows.
    #[must_use]
    pub fn agents(self, agents: AgentSet) -> Self {
        // The sender is dropped: this set never changes.
        self.agents_from(watch::channel(agents).1)
    }

    /// The same, for agents that may change while the server runs: each value replaces the one before.
    /// Turns in flight continue with the agent that they began with. The default agent is read once, at
    /// the start.
    #[must_use]
    pub fn agents_from(mut self, changes: watch::Receiver<AgentSet>) -> Self {
        self.agents = Some(changes);
        self
    }

    /// Keeps this value alive as long as the server, or the engine that was built from it.
    #[must_use]
    pub(crate) fn retain_for_server_lifetime(mut self, value: Arc<dyn Any + Send + Sync>) -> Self {
        self.keep_alive = Some(value);
        self
    }

    /// A server with the same workflows, tools and folders and nothing else, to find out what agents could
    /// use.
    pub(crate) fn clone_with_programs_only(&self) -> Self {
        Self {
            workflows: self.workflows.clone(),
            tools: self.tools.clone(),
            folders: self.folders.clone(),
            folders_named: self.folders_named,
            addresses: self.addresses.clone(),
            ..Self::default()
        }
    }

    /// The tools that agents may use, without those of MCP servers: the server's own tools, and the
    /// built-in tools whose names it does not use. Without artifacts they can be looked at, but not all of them
    /// can be called.
    pub fn local_agent_tools(
        &self,
        artifacts: Option<Arc<ArtifactService>>,
    ) -> Result<Vec<Arc<dyn Tool>>, ServerError> {
        let own = self.step_tools()?;
        let (addresses, clock) = (self.addresses.clone(), Arc::new(SystemClock));
        let built_in = BuiltInTools { addresses, clock, artifacts };
        let free =
            built_in.into_tools().into_iter().filter(|tool| own.find_tool(&tool.info().name).is_none());
        Ok(own.list_tools().cloned().chain(free).collect())
    }

    pub(super) fn has_agent(&self, name: &str) -> bool {
        let agents = self.agents.as_ref().map(|agents| agents.borrow());
        agents.is_some_and(|agents| agents.specs.iter().any(|spec| spec.name == name))
    }

    /// Registers the agents in a registry that is only inspected. It starts nothing.
    pub(super) fn register_agents_for_inspection(&self, registry: &ProgramRegistry) {
        let Some(agents) = self.agents.as_ref().map(|agents| agents.borrow().clone()) else {
            return;
        };
        let workshop: Arc<AgentResources> = Arc::default();
        workshop.replace_snapshot(agents.resources);
        registry.add_program_loader(Arc::new(trackway_agent::AgentLoader(workshop.clone())));
        for spec in agents.specs {
            if registry.current_program(&spec.name).is_none() {
                // The start of the server reports an agent that cannot be offered.
                let _ = registry.set_current_program(Arc::new(AgentProgram::new(spec, workshop.clone())));
            }
        }
    }

    /// The agent at the addresses that name no agent, if there are agents.
    pub(super) fn default_agent_name(&self) -> Option<String> {
        let agents = self.agents.as_ref()?.borrow();
        let first = agents.specs.first().map(|spec| spec.name.clone());
        agents.default_agent.clone().or(first)
    }

    /// Registers the agents, and updates them when they change.
    pub(super) async fn start_agents(
        &self,
        registry: &Arc<ProgramRegistry>,
        artifacts: &Arc<ArtifactService>,
        peers: &PeerRegistry,
        peer_tools: &PeerTools,
    ) -> Result<Option<RunningAgents>, ServerError> {
        let Some(mut changes) = self.agents.clone() else { return Ok(None) };
        let agents = changes.borrow_and_update().clone();
        let servers = McpServers::start_servers(agents.mcp.clone(), agents.folder.clone());
        // A late server is reported when it is ready.
        let _ = tokio::time::timeout(SERVERS_START_MAX, servers.wait_until_started()).await;
        let tools = self.local_agent_tools(Some(artifacts.clone()))?;
        let mut staff = AgentSupervisor::new(registry.clone(), tools, servers.clone(), peers.clone());
        staff.resources.set_tool_source(Arc::new(peer_tools.clone()));
        staff.replace_agents(agents);
        let written = staff.definitions.clone();
        let following = tokio::spawn(staff.follow_agent_changes(changes));
        Ok(Some(RunningAgents { following, servers, definitions: written, _kept: self.keep_alive.clone() }))
    }
}

/// Agents at work.
#[derive(Debug)]
pub(super) struct RunningAgents {
    following: JoinHandle<()>,
    servers: Arc<McpServers>,
    definitions: Arc<OnceLock<Arc<ServerDefinitions>>>,
    /// Keeps them up to date with their files.
    _kept: Option<Arc<dyn Any + Send + Sync>>,
}

impl RunningAgents {
    /// Reads the workflow definitions again when agents change, because their steps may name agents.
    pub(super) fn set_definitions_to_reload(&self, definitions: &Arc<ServerDefinitions>) {
        // It is set once: there is one set of definitions for the lifetime of the agents.
        let _ = self.definitions.set(definitions.clone());
    }

    /// Their MCP servers, for metrics.
    pub(super) fn mcp_servers(&self) -> Weak<McpServers> {
        Arc::downgrade(&self.servers)
    }

    /// Stops their MCP servers and the update task, and waits until both have ended.
    pub(super) async fn shutdown_agents(mut self) {
        self.following.abort();
        // The task was stopped on purpose, so its result is not needed.
        let _ended = (&mut self.following).await;
        self.servers.shutdown().await;
    }
}

/// Without a call of `shutdown`, the update task is stopped, and the MCP servers end with their last
/// reference.
impl Drop for RunningAgents {
    fn drop(&mut self) {
        self.following.abort();
    }
}

/// The agents of a registry.
#[derive(Debug)]
struct AgentSupervisor {
    registry: Arc<ProgramRegistry>,
    resources: Arc<AgentResources>,
    /// The tools of the server itself.
    tools: Vec<Arc<dyn Tool>>,
    servers: Arc<McpServers>,
    peers: PeerRegistry,
    /// Signals that the set of tools has changed. The subscription begins before the tools are first read,
    /// so it also sees changes during registration.
    tools_changed: watch::Receiver<u64>,
    /// The latest configuration.
    agents: AgentSet,
    /// The registered agents, by name, with their specs.
    registered: BTreeMap<String, AgentSpec>,
    /// Workflow definitions whose steps agents work on, once they are known.
    definitions: Arc<OnceLock<Arc<ServerDefinitions>>>,
}

impl AgentSupervisor {
    fn new(
        registry: Arc<ProgramRegistry>,
        tools: Vec<Arc<dyn Tool>>,
        servers: Arc<McpServers>,
        peers: PeerRegistry,
    ) -> Self {
        let workshop: Arc<AgentResources> = Arc::default();
        registry.add_program_loader(Arc::new(trackway_agent::AgentLoader(workshop.clone())));
        let tools_changed = servers.subscribe_server_changes();
        let (agents, offered, written) = Default::default();
        Self {
            registry,
            resources: workshop,
            tools,
            servers,
            peers,
            tools_changed,
            agents,
            registered: offered,
            definitions: written,
        }
    }

    /// Offers exactly these agents. An agent that cannot be offered is logged and left out; the others
    /// still work.
    fn replace_agents(&mut self, agents: AgentSet) {
        self.agents = agents;
        self.update_agent_resources();
        let mut now = BTreeMap::new();
        for spec in &self.agents.specs {
            let name = spec.name.clone();
            match self.register_agent(spec) {
                Ok(()) => drop(now.insert(name, spec.clone())),
                Err(why) => tracing::warn!(agent = name, why, "an agent is not offered"),
            }
        }
        for name in self.registered.keys().filter(|name| !now.contains_key(*name)) {
            self.registry.withdraw_program(name);
        }
        self.registered = now;
    }

    /// Reads the workflow definitions again, because their steps may name agents. It reads whole folders.
    async fn reload_definitions(&self) {
        let Some(written) = self.definitions.get().cloned() else { return };
        let registry = self.registry.clone();
        // It does not panic. If it did, the previous set would stay.
        let _looked = tokio::task::spawn_blocking(move || written.reload_definitions(&registry)).await;
    }

    fn update_agent_resources(&self) {
        let mut stock = self.agents.resources.clone();
        stock.tools.extend(self.tools.iter().cloned());
        stock.tools.extend(self.servers.list_server_tools());
        stock.servers_down = self.servers.down_server_reasons();
        self.resources.replace_snapshot(stock);
    }

    fn register_agent(&self, spec: &AgentSpec) -> Result<(), String> {
        let before = self.registered.get(&spec.name);
        if before == Some(spec) {
            return Ok(());
        }
        if before.is_none() && self.registry.current_program(&spec.name).is_some() {
            return Err("a workflow of this server has this name".to_owned());
        }
        let program = AgentProgram::new(spec.clone(), self.resources.clone());
        self.registry.set_current_program(Arc::new(program)).map_err(|error| error.to_string())
    }

    /// Follows changes of the configuration and of the MCP servers.
    async fn follow_agent_changes(mut self, mut changes: watch::Receiver<AgentSet>) {
        let mut is_said = true;
        loop {
            tokio::select! {
                said = changes.changed(), if is_said => match said {
                    Ok(()) => {
                        let agents = changes.borrow_and_update().clone();
                        self.servers.update_config(agents.mcp.clone()).await;
                        self.peers.configure(agents.mesh.clone());
                        self.replace_agents(agents);
                        self.reload_definitions().await;
                    }
                    // The sender is gone; the latest configuration stays.
                    Err(_) => is_said = false,
                },
                changed = self.tools_changed.changed() => match changed {
                    Ok(()) => self.update_agent_resources(),
                    Err(_) => return,
                },
            }
        }
    }
}
