//! MCP servers whose tools agents use.
//!
//! `mcp_config` reads `mcp.json`. [`McpServers`] has one [`mcp_server`] per entry for the whole process:
//! each is started once, shared by all agents, and restarted when it ends. `mcp_connection` is one lifetime
//! of a server: an `mcp_server_process` or an HTTP session (`mcp_http_client`), where `client_handler`
//! answers the server's requests. `remote_tool` is one tool and its calls, `call_result_conversion`
//! converts their results, and `mcp_error_text` describes errors.

mod call_result_conversion;
mod client_handler;
mod elicitation;
mod mcp_config;
mod mcp_connection;
mod mcp_error_text;
mod mcp_http_client;
mod mcp_server;
mod mcp_server_process;
mod mcp_servers;
mod remote_tool;
mod remote_tool_name;
mod server_stdout_filter;

pub use mcp_config::{McpConfig, McpConfigFinding, McpServerConfig, McpServerTransport, MissingEnvVar};
pub use mcp_server::McpServerPhase;
pub use mcp_servers::{McpServerStatus, McpServers};
