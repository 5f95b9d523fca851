//! A server's tool as a tool of ours.

use std::sync::Arc;

use rmcp::model::Tool as RemoteTool;
use serde_json::Value;
use trackway_runtime::{Tool, ToolCall, ToolFuture, ToolInfo};

use super::{call::call, server::Server};

/// Longest description that is kept of a server's tool. Models are shown less of it.
/// Limit (Tools): description of a tool that is kept.
const DESCRIPTION_CHARS_MAX: usize = 4096;

/// One tool of one server.
#[derive(Debug)]
pub(super) struct McpTool {
    info: ToolInfo,
    server: Arc<Server>,
    /// What the server calls it.
    remote: String,
    /// The server says that a second call changes nothing.
    is_harmless: bool,
}

impl McpTool {
    pub(super) fn new(server: Arc<Server>, name: String, tool: &RemoteTool) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref());
        let description = description.unwrap_or_default().chars().take(DESCRIPTION_CHARS_MAX);
        let info = ToolInfo {
            name,
            description: description.collect(),
            input_schema: Value::Object((*tool.input_schema).clone()),
        };
        let hints = tool.annotations.as_ref();
        let is_harmless = hints.is_some_and(|hints| {
            hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
        });
        Self { info, server, remote: tool.name.to_string(), is_harmless }
    }
}

impl Tool for McpTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    /// The protocol has no key by which a server would know a call again.
    fn can_be_repeated(&self) -> bool {
        self.is_harmless
    }

    fn call(&self, arguments: Value, about: ToolCall) -> ToolFuture {
        Box::pin(call(self.server.clone(), self.remote.clone(), arguments, about))
    }
}
