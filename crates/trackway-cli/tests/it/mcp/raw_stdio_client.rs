//! A minimal client on the plain pipe, for tests that start many servers.

use serde_json::{Value, json};

use super::{answer::ToolAnswer, mcp_workspace::McpWorkspace};
use crate::support::{RunningProcess, trackway_command};

/// A server without any client library in between. Its log goes to a file, at the most verbose level.
#[derive(Debug)]
pub(super) struct RawStdioClient {
    pub(super) server: RunningProcess,
}

impl RawStdioClient {
    pub(super) fn start(shop: &McpWorkspace) -> Self {
        Self::start_with(shop, &["--workflows", shop.workflows()])
    }

    fn start_with(shop: &McpWorkspace, more: &[&str]) -> Self {
        let data = shop.data();
        let args = [&["mcp", "--data", data.to_str().unwrap()], more].concat();
        let server = trackway_command(&args)
            .env("TRACKWAY_LOG", "trace")
            .log_to_file(&shop.path().join("stderr"))
            .start();
        Self { server }
    }

    /// The same after `initialize` of an older revision.
    pub(super) fn start_and_greet(shop: &McpWorkspace) -> Self {
        Self::start(shop).greet()
    }

    /// One with only these arguments, after `initialize`.
    pub(super) fn start_and_greet_with(shop: &McpWorkspace, args: &[&str]) -> Self {
        Self::start_with(shop, args).greet()
    }

    fn greet(mut self) -> Self {
        self.server.write(&greeting_messages());
        self.server.read_line();
        self
    }

    /// The parameters of a tool, if it is offered.
    pub(super) fn tool_parameters(&mut self, tool: &str) -> Option<Vec<String>> {
        self.server.write("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\"}\n");
        let line = self.server.read_line();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let tools = message["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|it| it["name"] == tool)?;
        Some(tool["inputSchema"]["properties"].as_object().unwrap().keys().cloned().collect())
    }

    /// Sends a call, and returns the line that answers it.
    pub(super) fn call_for_line(&mut self, name: &str, arguments: Value) -> String {
        let params = json!({ "name": name, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        self.server.write(&format!("{call}\n"));
        self.server.read_line()
    }

    pub(super) fn call_tool(&mut self, name: &str, arguments: Value) -> ToolAnswer {
        let line = self.call_for_line(name, arguments);
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let result = &message["result"];
        ToolAnswer::from_client_report(&json!({
            "text": [result["content"][0]["text"]], "structured": result["structuredContent"],
            "isError": result["isError"].as_bool().unwrap_or(false), "asked": [],
        }))
    }
}

/// The first messages of an older revision.
pub(super) fn greeting_messages() -> String {
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    format!("{hello}\n{ready}\n")
}
