//! MCP servers whose tools agents use.
//!
//! `config` reads `mcp.json`. [`McpServers`] holds one [`server`] per entry for the whole process: each
//! is started once, shared by all agents, and restarted when it ends. `connection` is one lifetime of a
//! server: a `process` or an HTTP session (`web`), where `client` answers the server's requests. `tool`
//! is one tool and its calls, `result` converts their results, and `fault` describes errors.

mod client;
mod config;
mod connection;
mod fault;
mod lines;
mod name;
mod process;
mod question;
mod result;
mod server;
mod servers;
mod tool;
mod web;

pub use config::{ConfigProblem, McpConfig, Missing, Reach, ServerConfig};
pub use server::Phase;
pub use servers::{McpServers, ServerStatus};
