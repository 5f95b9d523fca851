//! MCP servers as agents use them: real processes and real sockets.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

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
#[path = "mcp/stage.rs"]
mod stage;
#[path = "mcp/web.rs"]
mod web;
