//! Agents of a server: a program each, in step with whoever says which agents there are.
//!
//! What agents share is the workshop: a change of the workspace restocks it, and the next model call looks
//! there. An agent that changed is another version of its program: new turns take it, those in flight go
//! on with the one that they began with.

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
use trackway_a2a::AddressPolicy;
use trackway_agent::{AgentProgram, AgentSpec, BuiltIn, McpConfig, McpServers, Stock, Workshop};
use trackway_runtime::{Registry, SystemClock, Tool};

use super::{Server, ServerError, written::Written};

/// How long a start waits for MCP servers. Turns that were under way go on at once, and those that use
/// such tools need them; a server that takes longer is waited for by nobody.
/// Limit (Tools): time that a start waits for tool servers.
const SERVERS_START_MAX: Duration = Duration::from_secs(10);

/// Which agents there are, and what they share.
#[derive(Debug, Clone, Default)]
pub struct Agents {
    pub specs: Vec<AgentSpec>,
    /// Models, and tools beside those of the server.
    pub stock: Stock,
    /// Servers of further tools.
    pub mcp: McpConfig,
    /// Where those servers run, unless they name a folder of their own.
    pub folder: PathBuf,
    /// The agent at the addresses that name none; the first one where none is named.
    pub default_agent: Option<String>,
}

impl Server {
    /// Serves these agents. Each may dispatch the server's workflows and call its tools, as far as its
    /// spec allows.
    #[must_use]
    pub fn agents(self, agents: Agents) -> Self {
        // Nobody will tell of another set.
        self.agents_from(watch::channel(agents).1)
    }

    /// The same, for agents that may change while the server runs: each value replaces the one before.
    /// Turns in flight go on with the agent that they began with. Which agent is the default one is asked
    /// once, at the start.
    #[must_use]
    pub fn agents_from(mut self, changes: watch::Receiver<Agents>) -> Self {
        self.agents = Some(changes);
        self
    }

    /// Holds this for as long as the server, or what it was made into, is there.
    #[must_use]
    pub(crate) fn keeping(mut self, kept: Arc<dyn Any + Send + Sync>) -> Self {
        self.kept = Some(kept);
        self
    }

    /// A server with the same workflows, tools and folders and nothing else: to see what agents could use.
    pub(crate) fn outline(&self) -> Self {
        Self {
            workflows: self.workflows.clone(),
            tools: self.tools.clone(),
            folders: self.folders.clone(),
            folders_named: self.folders_named,
            allow_loopback_targets: self.allow_loopback_targets,
            ..Self::default()
        }
    }

    /// The tools that agents may be allowed, but for those of MCP servers: the server's own, and the
    /// built-in ones whose names it has not taken.
    pub fn agent_tools(&self) -> Result<Vec<Arc<dyn Tool>>, ServerError> {
        let own = self.tools()?;
        let built_in = BuiltIn {
            addresses: AddressPolicy { allow_loopback: self.allow_loopback_targets },
            clock: Arc::new(SystemClock),
        };
        let free = built_in.tools().into_iter().filter(|tool| own.get(&tool.info().name).is_none());
        Ok(own.list().cloned().chain(free).collect())
    }

    pub(super) fn has_agent(&self, name: &str) -> bool {
        let agents = self.agents.as_ref().map(|agents| agents.borrow());
        agents.is_some_and(|agents| agents.specs.iter().any(|spec| spec.name == name))
    }

    /// Lets a registry that is only looked at know the agents: nothing of theirs is started.
    pub(super) fn enlist(&self, registry: &Registry) {
        let Some(agents) = self.agents.as_ref().map(|agents| agents.borrow().clone()) else {
            return;
        };
        let workshop: Arc<Workshop> = Arc::default();
        workshop.restock(agents.stock);
        registry.reviver(Arc::new(trackway_agent::Agents(workshop.clone())));
        for spec in agents.specs {
            if registry.get(&spec.name).is_none() {
                // One that cannot be offered is told of at the start.
                let _ = registry.offer(Arc::new(AgentProgram::new(spec, workshop.clone())));
            }
        }
    }

    /// The agent at the addresses that name none, where there are agents.
    pub(super) fn first_agent(&self) -> Option<String> {
        let agents = self.agents.as_ref()?.borrow();
        let first = agents.specs.first().map(|spec| spec.name.clone());
        agents.default_agent.clone().or(first)
    }

    /// Offers the agents, and goes on doing so when they change.
    pub(super) async fn staff(
        &self,
        registry: &Arc<Registry>,
    ) -> Result<Option<Employed>, ServerError> {
        let Some(mut changes) = self.agents.clone() else { return Ok(None) };
        let agents = changes.borrow_and_update().clone();
        let servers = McpServers::start(agents.mcp.clone(), agents.folder.clone());
        // Those that are late are told of when they come.
        let _ = tokio::time::timeout(SERVERS_START_MAX, servers.settled()).await;
        let tools = self.agent_tools()?;
        let mut staff = Staff::new(registry.clone(), tools, servers.clone());
        staff.renew(agents);
        let written = staff.written.clone();
        let following = tokio::spawn(staff.follow(changes));
        Ok(Some(Employed { following, servers, written, _kept: self.kept.clone() }))
    }
}

/// Agents at work.
#[derive(Debug)]
pub(super) struct Employed {
    following: JoinHandle<()>,
    servers: Arc<McpServers>,
    written: Arc<OnceLock<Arc<Written>>>,
    /// What keeps them in step with their files.
    _kept: Option<Arc<dyn Any + Send + Sync>>,
}

impl Employed {
    /// Has the written workflows looked at again when agents change: their steps may name them.
    pub(super) fn work_on(&self, written: &Arc<Written>) {
        // There is one set of them for as long as the agents are at work.
        let _ = self.written.set(written.clone());
    }

    /// Their servers of tools, for whoever wants to look at them.
    pub(super) fn servers(&self) -> Weak<McpServers> {
        Arc::downgrade(&self.servers)
    }

    /// Ends what runs for them, and waits until it has ended.
    pub(super) async fn dismiss(mut self) {
        self.following.abort();
        // It was told to end, so that is all there is to hear.
        let _ended = (&mut self.following).await;
        self.servers.shutdown().await;
    }
}

/// Where nobody has dismissed them, nobody follows them any more, and their servers end with the last
/// who holds them.
impl Drop for Employed {
    fn drop(&mut self) {
        self.following.abort();
    }
}

/// The agents of a registry.
#[derive(Debug)]
struct Staff {
    registry: Arc<Registry>,
    workshop: Arc<Workshop>,
    /// Those of the server itself.
    tools: Vec<Arc<dyn Tool>>,
    servers: Arc<McpServers>,
    /// Tells that tools are others than those in the workshop. It listens from before they are first put
    /// there: what changes while agents are offered is seen too.
    tools_changed: watch::Receiver<u64>,
    /// What was said last.
    agents: Agents,
    /// The agents that are offered, by name, as they were written.
    offered: BTreeMap<String, AgentSpec>,
    /// Workflows whose steps agents work on, once they are known.
    written: Arc<OnceLock<Arc<Written>>>,
}

impl Staff {
    fn new(registry: Arc<Registry>, tools: Vec<Arc<dyn Tool>>, servers: Arc<McpServers>) -> Self {
        let workshop: Arc<Workshop> = Arc::default();
        registry.reviver(Arc::new(trackway_agent::Agents(workshop.clone())));
        let tools_changed = servers.changed();
        let (agents, offered, written) = Default::default();
        Self { registry, workshop, tools, servers, tools_changed, agents, offered, written }
    }

    /// Offers these agents and no others. What cannot be offered is told and left out: the others are
    /// needed all the same.
    fn renew(&mut self, agents: Agents) {
        self.agents = agents;
        self.restock();
        let mut now = BTreeMap::new();
        for spec in &self.agents.specs {
            let name = spec.name.clone();
            match self.offer(spec) {
                Ok(()) => drop(now.insert(name, spec.clone())),
                Err(why) => tracing::warn!(agent = name, why, "an agent is not offered"),
            }
        }
        for name in self.offered.keys().filter(|name| !now.contains_key(*name)) {
            self.registry.withdraw(name);
        }
        self.offered = now;
    }

    /// Looks at the written workflows again: their steps may name agents. Whole folders are read.
    async fn look_at_written(&self) {
        let Some(written) = self.written.get().cloned() else { return };
        let registry = self.registry.clone();
        // It does not panic; where it did, what was offered before stays.
        let _looked = tokio::task::spawn_blocking(move || written.renew(&registry)).await;
    }

    fn restock(&self) {
        let mut stock = self.agents.stock.clone();
        stock.tools.extend(self.tools.iter().cloned());
        stock.tools.extend(self.servers.tools());
        stock.servers_down = self.servers.down();
        self.workshop.restock(stock);
    }

    fn offer(&self, spec: &AgentSpec) -> Result<(), String> {
        let before = self.offered.get(&spec.name);
        if before == Some(spec) {
            return Ok(());
        }
        if before.is_none() && self.registry.get(&spec.name).is_some() {
            return Err("a workflow of this server has this name".to_owned());
        }
        let program = AgentProgram::new(spec.clone(), self.workshop.clone());
        self.registry.offer(Arc::new(program)).map_err(|error| error.to_string())
    }

    /// Follows what is said of agents, and what becomes of their servers.
    async fn follow(mut self, mut changes: watch::Receiver<Agents>) {
        let mut is_said = true;
        loop {
            tokio::select! {
                said = changes.changed(), if is_said => match said {
                    Ok(()) => {
                        let agents = changes.borrow_and_update().clone();
                        self.servers.replace(agents.mcp.clone()).await;
                        self.renew(agents);
                        self.look_at_written().await;
                    }
                    // Nobody can say anything any more; what was said last stays.
                    Err(_) => is_said = false,
                },
                changed = self.tools_changed.changed() => match changed {
                    Ok(()) => self.restock(),
                    Err(_) => return,
                },
            }
        }
    }
}
