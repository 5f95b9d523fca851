//! MCP servers as agents use them: real processes and real sockets.

mod fixture;
mod http;
mod lifecycle;
mod mcp_harness;
mod odd_servers;
mod results;
mod runs;
