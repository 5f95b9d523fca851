//! All servers of a workspace, shared by all agents of the process.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use futures_util::future::join_all;
use tokio::sync::{Mutex, watch};
use trackway_runtime::Tool;

use super::{
    mcp_config::McpConfig,
    mcp_server::{McpServer, McpServerPhase},
    remote_tool::McpTool,
    remote_tool_name::unique_prefixed_tool_name,
};
use crate::tool_naming::sanitize_tool_name;

/// The MCP servers of a workspace. Each is started once.
#[derive(Debug)]
pub struct McpServers {
    folder: PathBuf,
    /// By name. Locked only to read or change it, never across an await.
    servers: RwLock<BTreeMap<String, Arc<McpServer>>>,
    /// Locked while servers end, so that the newest configuration wins.
    replacing: Mutex<()>,
    generation: watch::Sender<u64>,
}

/// The visible state of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerStatus {
    pub name: String,
    /// Its command or address, without arguments and query.
    pub transport: String,
    pub phase: McpServerPhase,
    /// The names of its tools as agents know them.
    pub tools: Vec<String>,
    /// The server's own names for tools that are not offered, because the protocol does not allow these
    /// names.
    pub left_out: Vec<String>,
    /// Why it is down.
    pub reason: Option<String>,
    /// How often it was started.
    pub starts: u32,
}

impl McpServers {
    /// Begins to start all servers, in `folder` if they name no folder.
    pub fn start_servers(config: McpConfig, folder: PathBuf) -> Arc<Self> {
        let servers = Self {
            folder,
            servers: RwLock::default(),
            replacing: Mutex::default(),
            generation: watch::Sender::new(0),
        };
        servers.replace_configured_servers(config);
        Arc::new(servers)
    }

    /// Waits until each server has answered or failed for the first time.
    pub async fn wait_until_started(&self) {
        let servers = self.server_list();
        join_all(servers.iter().map(|server| server.wait_until_started())).await;
    }

    /// Notified when tools or the state of a server change.
    pub fn subscribe_server_changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// The tools of all servers, in a stable order. This includes tools of a server that is down.
    pub fn list_server_tools(&self) -> Vec<Arc<dyn Tool>> {
        let named = self.tools_by_server();
        named.into_iter().map(|(_, tool)| Arc::new(tool) as Arc<dyn Tool>).collect()
    }

    /// The servers that are not running: the prefix of their tools' names, and the reason.
    pub fn down_server_reasons(&self) -> BTreeMap<String, String> {
        let servers = self.server_list();
        let down = servers.iter().filter_map(|server| {
            let shown = server.current_state();
            let is_down = shown.phase == McpServerPhase::Down;
            is_down.then(|| (sanitize_tool_name(&server.name), shown.reason.unwrap_or_default()))
        });
        down.collect()
    }

    pub fn server_statuses(&self) -> Vec<McpServerStatus> {
        let mut tools: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (server, tool) in self.tools_by_server() {
            tools.entry(server).or_default().push(tool.info().name.clone());
        }
        let status = |server: &Arc<McpServer>| {
            let shown = server.current_state();
            McpServerStatus {
                name: server.name.clone(),
                transport: server.config.transport.to_string(),
                phase: shown.phase,
                tools: tools.remove(&server.name).unwrap_or_default(),
                left_out: shown.left_out.to_vec(),
                reason: shown.reason,
                starts: shown.starts,
            }
        };
        self.server_list().iter().map(status).collect()
    }

    /// Applies another configuration. Servers that are the same in both keep running. The others are
    /// ended first and then started again if they are still configured, because two copies of one
    /// server could conflict.
    pub async fn update_config(&self, config: McpConfig) {
        let _one_at_a_time = self.replacing.lock().await;
        let mut servers = self.server_list();
        servers.retain(|server| config.servers.get(&server.name) != Some(&server.config));
        join_all(servers.iter().map(|server| server.stop_and_wait())).await;
        self.replace_configured_servers(config);
    }

    /// Ends all servers, and waits until they have ended. Stop the runtime first: a running call fails
    /// with its server, and its run would record that failure.
    pub async fn shutdown(&self) {
        self.update_config(McpConfig::default()).await;
    }

    /// Starts the servers of a configuration that are not running yet, and removes all others.
    fn replace_configured_servers(&self, config: McpConfig) {
        let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|name, server| config.servers.get(name) == Some(&server.config));
        for (name, config) in config.servers {
            servers.entry(name.clone()).or_insert_with(|| {
                McpServer::spawn_supervised_server(name, config, self.folder.clone(), self.generation.clone())
            });
        }
        drop(servers);
        self.generation.send_modify(|generation| *generation += 1);
    }

    fn server_list(&self) -> Vec<Arc<McpServer>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Every tool with the name of its server.
    fn tools_by_server(&self) -> Vec<(String, McpTool)> {
        let mut taken = BTreeSet::new();
        let mut named = Vec::new();
        for server in self.server_list() {
            let mut seen = BTreeSet::new();
            for tool in server.current_state().tools.iter() {
                // A tool that is listed twice is one tool.
                if !seen.insert(tool.name.clone()) {
                    continue;
                }
                let name = unique_prefixed_tool_name(&server.name, &tool.name, &taken);
                taken.insert(name.clone());
                named.push((server.name.clone(), McpTool::new(server.clone(), name, tool)));
            }
        }
        named
    }
}

/// If the servers were not shut down, they end when their owner is dropped, without waiting.
impl Drop for McpServers {
    fn drop(&mut self) {
        for server in self.server_list() {
            server.stop_without_waiting();
        }
    }
}
