//! All servers of a workspace, shared by all agents of the process.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use futures_util::future::join_all;
use tokio::sync::watch;
use trackway_runtime::Tool;

use super::{
    config::McpConfig,
    name::tool_name,
    server::{Phase, Server},
    tool::McpTool,
};

/// The MCP servers of a workspace. Each is started once.
#[derive(Debug)]
pub struct McpServers {
    folder: PathBuf,
    http: reqwest::Client,
    /// By name. Held to look or to change, never while anything is waited for.
    servers: RwLock<BTreeMap<String, Arc<Server>>>,
    generation: watch::Sender<u64>,
}

/// What can be said of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    pub name: String,
    /// Its command or address, without arguments and query.
    pub reach: String,
    pub phase: Phase,
    /// The names of its tools as agents know them.
    pub tools: Vec<String>,
    /// Why it is down.
    pub reason: Option<String>,
    /// How often it was started.
    pub starts: u32,
}

impl McpServers {
    /// Begins to start all servers, in `folder` where they name none of their own. Fails where the
    /// machine has no usable TLS setup.
    pub fn start(config: McpConfig, folder: PathBuf) -> Result<Arc<Self>, reqwest::Error> {
        let servers = Self {
            folder,
            // The addresses are the operator's.
            http: trackway_outgoing::operator_client()?,
            servers: RwLock::default(),
            generation: watch::Sender::new(0),
        };
        let _none_before = servers.swap(config);
        Ok(Arc::new(servers))
    }

    /// When each server has answered or failed for the first time.
    pub async fn settled(&self) {
        let servers = self.servers();
        join_all(servers.iter().map(|server| server.settled())).await;
    }

    /// Told whenever tools or the state of a server are others than before.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// The tools of all servers, in a stable order. Those of a server that is down are among them.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let named = self.named_tools();
        named.into_iter().map(|(_, tool)| Arc::new(tool) as Arc<dyn Tool>).collect()
    }

    pub fn status(&self) -> Vec<ServerStatus> {
        let mut tools: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (server, tool) in self.named_tools() {
            tools.entry(server).or_default().push(tool.info().name.clone());
        }
        let status = |server: &Arc<Server>| {
            let shown = server.shown();
            ServerStatus {
                name: server.name.clone(),
                reach: server.config.reach.to_string(),
                phase: shown.phase,
                tools: tools.remove(&server.name).unwrap_or_default(),
                reason: shown.reason,
                starts: shown.starts,
            }
        };
        self.servers().iter().map(status).collect()
    }

    /// Takes over another configuration. Servers that are the same in both go on undisturbed; the others
    /// are ended, and started where they are still wanted.
    pub async fn replace(&self, config: McpConfig) {
        let unwanted = self.swap(config);
        join_all(unwanted.iter().map(|server| server.stop())).await;
    }

    /// Ends all servers, and waits until they have ended.
    pub async fn shutdown(&self) {
        self.replace(McpConfig::default()).await;
    }

    /// Puts the servers of a configuration in place; gives back those that are not in it.
    fn swap(&self, mut config: McpConfig) -> Vec<Arc<Server>> {
        let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
        let mut unwanted = Vec::new();
        servers.retain(|name, server| {
            let is_same = config.servers.get(name) == Some(&server.config);
            if is_same {
                config.servers.remove(name);
            } else {
                unwanted.push(server.clone());
            }
            is_same
        });
        for (name, config) in config.servers {
            let (folder, http) = (self.folder.clone(), self.http.clone());
            let server = Server::start(name.clone(), config, folder, http, self.generation.clone());
            servers.insert(name, server);
        }
        drop(servers);
        self.generation.send_modify(|generation| *generation += 1);
        unwanted
    }

    fn servers(&self) -> Vec<Arc<Server>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Every tool with the name of its server.
    fn named_tools(&self) -> Vec<(String, McpTool)> {
        let mut taken = BTreeSet::new();
        let mut named = Vec::new();
        for server in self.servers() {
            let mut seen = BTreeSet::new();
            for tool in server.shown().tools.iter() {
                // A tool that is listed twice is one tool.
                if !seen.insert(tool.name.clone()) {
                    continue;
                }
                let name = tool_name(&server.name, &tool.name, &taken);
                taken.insert(name.clone());
                named.push((server.name.clone(), McpTool::new(server.clone(), name, tool)));
            }
        }
        named
    }
}

/// Where nobody has shut the servers down, they end with their owner, not waited for.
impl Drop for McpServers {
    fn drop(&mut self) {
        for server in self.servers() {
            server.abandon();
        }
    }
}
