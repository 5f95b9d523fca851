//! Servers from a configuration, and calls of their tools.

use std::{ops::Deref, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use trackway_agent::{McpConfig, McpServerPhase, McpServers, MissingEnvVar};
use trackway_domain::{Caller, Failure, Op, OpKind, SessionId};
use trackway_runtime::{StepAttempt, Tool, ToolCallContext, ToolOutput};

use super::fixture::{ARGUMENTS, SERVES};

/// The fixture as an entry of `mcp.json`, with additional keys.
pub(crate) fn fixture_entry(more: &Value) -> Value {
    let mut entry = json!({"command": std::env::current_exe().unwrap(), "args": ARGUMENTS});
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry["env"][SERVES] = json!("1");
    entry
}

pub(crate) fn parse_config(servers: &Value) -> McpConfig {
    let resolve = |name: &str| match name {
        "SECRET" => Ok("s3cret".to_owned()),
        _ => Err(MissingEnvVar { name: name.to_owned() }),
    };
    McpConfig::parse_mcp_config(&json!({"mcpServers": servers}).to_string(), &resolve).unwrap()
}

/// Servers in a separate folder.
pub(crate) struct RunningServers {
    pub(crate) servers: Arc<McpServers>,
    _folder: TempDir,
}

impl Deref for RunningServers {
    type Target = McpServers;

    fn deref(&self) -> &McpServers {
        &self.servers
    }
}

pub(crate) async fn start_servers(servers: &Value) -> RunningServers {
    start_servers_in(tempfile::tempdir().unwrap(), servers).await
}

pub(crate) async fn start_servers_in(folder: TempDir, servers: &Value) -> RunningServers {
    let servers = McpServers::start_servers(parse_config(servers), folder.path().to_owned());
    servers.wait_until_started().await;
    RunningServers { servers, _folder: folder }
}

/// The fixture as the server `one`, with additional keys in its entry.
pub(crate) async fn start_fixture(more: &Value) -> RunningServers {
    start_servers(&json!({"one": fixture_entry(more)})).await
}

/// Waits until a server is in that phase for the given time.
pub(crate) async fn wait_for_phase(servers: &McpServers, server: &str, phase: McpServerPhase, starts: u32) {
    let mut changed = servers.subscribe_server_changes();
    loop {
        changed.borrow_and_update();
        let status = servers.server_statuses().into_iter().find(|status| status.name == server).unwrap();
        if status.phase == phase && status.starts == starts {
            return;
        }
        changed.changed().await.unwrap();
    }
}

pub(crate) fn find_tool(servers: &McpServers, name: &str) -> Arc<dyn Tool> {
    let tools = servers.list_server_tools();
    let found = tools.iter().find(|tool| tool.info().name == name);
    found.unwrap_or_else(|| panic!("no {name} among {:?}", tool_names(servers))).clone()
}

pub(crate) fn tool_names(servers: &McpServers) -> Vec<String> {
    servers.list_server_tools().iter().map(|tool| tool.info().name.clone()).collect()
}

pub(crate) fn detached_call() -> ToolCallContext {
    let op = Op { kind: OpKind::Step, key: "call".into(), occurrence: 0 };
    let attempt = StepAttempt { idempotency_key: "k".to_owned(), number: 1, op };
    ToolCallContext::without_run(attempt, Caller::local_without_auth(), SessionId::new("s").unwrap())
}

pub(crate) async fn call_tool(
    servers: &McpServers,
    name: &str,
    arguments: Value,
) -> Result<ToolOutput, Failure> {
    find_tool(servers, name).call(arguments, detached_call()).await
}

/// The value of a result that is JSON in a text.
pub(crate) fn parse_json_output(output: &ToolOutput) -> Value {
    serde_json::from_str(output.value.as_str().unwrap()).unwrap()
}
