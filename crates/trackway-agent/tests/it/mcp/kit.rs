//! Servers from a configuration, and calls of their tools.

use std::{ops::Deref, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use trackway_agent::{McpConfig, McpServers, Missing, Phase};
use trackway_domain::{Caller, Failure, Op, OpKind, SessionId};
use trackway_runtime::{Attempt, Tool, ToolCall, ToolOutput};

use super::fixture::{ARGUMENTS, SERVES};

/// The fixture as an entry of `mcp.json`, with additional keys.
pub(crate) fn entry(more: &Value) -> Value {
    let mut entry = json!({"command": std::env::current_exe().unwrap(), "args": ARGUMENTS});
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry["env"][SERVES] = json!("1");
    entry
}

pub(crate) fn config(servers: &Value) -> McpConfig {
    let resolve = |name: &str| match name {
        "SECRET" => Ok("s3cret".to_owned()),
        _ => Err(Missing { name: name.to_owned() }),
    };
    McpConfig::parse(&json!({"mcpServers": servers}).to_string(), &resolve).unwrap()
}

/// Servers in a separate folder.
pub(crate) struct Running {
    pub(crate) servers: Arc<McpServers>,
    _folder: TempDir,
}

impl Deref for Running {
    type Target = McpServers;

    fn deref(&self) -> &McpServers {
        &self.servers
    }
}

pub(crate) async fn start(servers: &Value) -> Running {
    start_in(tempfile::tempdir().unwrap(), servers).await
}

pub(crate) async fn start_in(folder: TempDir, servers: &Value) -> Running {
    let servers = McpServers::start(config(servers), folder.path().to_owned());
    servers.settled().await;
    Running { servers, _folder: folder }
}

/// The fixture as the server `one`, with additional keys in its entry.
pub(crate) async fn start_one(more: &Value) -> Running {
    start(&json!({"one": entry(more)})).await
}

/// Waits until a server is in that phase for the given time.
pub(crate) async fn phase(servers: &McpServers, server: &str, phase: Phase, starts: u32) {
    let mut changed = servers.changed();
    loop {
        changed.borrow_and_update();
        let status = servers.status().into_iter().find(|status| status.name == server).unwrap();
        if status.phase == phase && status.starts == starts {
            return;
        }
        changed.changed().await.unwrap();
    }
}

pub(crate) fn tool(servers: &McpServers, name: &str) -> Arc<dyn Tool> {
    let tools = servers.tools();
    let found = tools.iter().find(|tool| tool.info().name == name);
    found.unwrap_or_else(|| panic!("no {name} among {:?}", names(servers))).clone()
}

pub(crate) fn names(servers: &McpServers) -> Vec<String> {
    servers.tools().iter().map(|tool| tool.info().name.clone()).collect()
}

pub(crate) fn alone() -> ToolCall {
    let op = Op { kind: OpKind::Step, key: "call".into(), occurrence: 0 };
    let attempt = Attempt { idempotency_key: "k".to_owned(), number: 1, op };
    ToolCall::alone(attempt, Caller::local(), SessionId::new("s").unwrap())
}

pub(crate) async fn call(
    servers: &McpServers,
    name: &str,
    arguments: Value,
) -> Result<ToolOutput, Failure> {
    tool(servers, name).call(arguments, alone()).await
}

/// The value of a result that is JSON in a text.
pub(crate) fn read(output: &ToolOutput) -> Value {
    serde_json::from_str(output.value.as_str().unwrap()).unwrap()
}
