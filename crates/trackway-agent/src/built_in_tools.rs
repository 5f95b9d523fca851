//! The built-in tools of agents, which need no MCP server.
//!
//! `artifact_tools` lists, reads and writes artifacts, `time_tool` returns the time, and `http_fetch` reads a web page, which `html_text` converts to text.

mod artifact_tools;
mod html_text;
mod http_fetch;
mod time_tool;

use std::{fmt, sync::Arc};

use serde_json::Value;
use trackway_artifacts::ArtifactService;
use trackway_outgoing::AddressPolicy;
use trackway_ports::Clock;
use trackway_runtime::{Tool, ToolCallContext, ToolFuture, ToolInfo, ToolOrigin};

/// The dependencies of the built-in tools.
#[derive(Debug, Clone)]
pub struct BuiltInTools {
    /// The addresses that a model may read.
    pub addresses: AddressPolicy,
    pub clock: Arc<dyn Clock>,
    /// None if the tools are only looked at.
    pub artifacts: Option<Arc<ArtifactService>>,
}

impl BuiltInTools {
    /// The tool that returns the time. It does not depend on a conversation, so steps of workflow
    /// definitions can use it too.
    pub fn time_now_tool(clock: Arc<dyn Clock>) -> Arc<dyn Tool> {
        time_tool::time_now_tool(clock)
    }

    pub fn into_tools(self) -> Vec<Arc<dyn Tool>> {
        vec![
            artifact_tools::artifact_list_tool(self.artifacts.clone()),
            artifact_tools::artifact_read_tool(self.artifacts),
            artifact_tools::artifact_write_tool(),
            http_fetch::http_fetch_tool(self.addresses),
            Self::time_now_tool(self.clock),
        ]
    }
}

/// A tool that is a function.
struct FunctionTool<F> {
    info: ToolInfo,
    function: F,
}

impl<F> fmt::Debug for FunctionTool<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.info.name)
    }
}

impl<F: Fn(Value, ToolCallContext) -> ToolFuture + Send + Sync> Tool for FunctionTool<F> {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, arguments: Value, call: ToolCallContext) -> ToolFuture {
        (self.function)(arguments, call)
    }
}

fn tool_from_function(
    name: &str,
    description: &str,
    input_schema: Value,
    function: impl Fn(Value, ToolCallContext) -> ToolFuture + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let (name, description) = (name.to_owned(), description.to_owned());
    Arc::new(FunctionTool {
        info: ToolInfo { name, description, input_schema, origin: ToolOrigin::Local },
        function,
    })
}
