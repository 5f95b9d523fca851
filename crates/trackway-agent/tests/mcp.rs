//! MCP servers as agents use them: real processes and real sockets.

#[path = "mcp/fixture.rs"]
mod fixture;
#[path = "mcp/http.rs"]
mod http;
#[path = "mcp/kit.rs"]
mod kit;
#[path = "mcp/life.rs"]
mod life;
#[path = "mcp/results.rs"]
mod results;
