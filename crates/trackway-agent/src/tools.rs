//! The tools that agents have without an MCP server.
//!
//! `artifacts` lists, reads and writes what the runs of a conversation have produced, `clock` tells the time,
//! and `fetch` reads a page of the web, which `page` turns into text.

mod artifacts;
mod clock;
mod fetch;
mod page;

use std::{fmt, sync::Arc};

use serde_json::Value;
use trackway_outgoing::AddressPolicy;
use trackway_ports::Clock;
use trackway_runtime::{Tool, ToolCall, ToolFuture, ToolInfo};

/// What the built-in tools need.
#[derive(Debug, Clone)]
pub struct BuiltIn {
    /// Which addresses a model may have read.
    pub addresses: AddressPolicy,
    pub clock: Arc<dyn Clock>,
}

impl BuiltIn {
    /// The tool that tells the time. It needs nothing of a conversation, so that the steps of written
    /// workflows have it too.
    pub fn time_now(clock: Arc<dyn Clock>) -> Arc<dyn Tool> {
        clock::time_now(clock)
    }

    pub fn tools(self) -> Vec<Arc<dyn Tool>> {
        vec![
            artifacts::list(),
            artifacts::read(),
            artifacts::write(),
            fetch::http_fetch(self.addresses),
            Self::time_now(self.clock),
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

impl<F: Fn(Value, ToolCall) -> ToolFuture + Send + Sync> Tool for FunctionTool<F> {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, arguments: Value, call: ToolCall) -> ToolFuture {
        (self.function)(arguments, call)
    }
}

fn function_tool(
    name: &str,
    description: &str,
    input_schema: Value,
    function: impl Fn(Value, ToolCall) -> ToolFuture + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let (name, description) = (name.to_owned(), description.to_owned());
    Arc::new(FunctionTool { info: ToolInfo { name, description, input_schema }, function })
}
