//! MCP servers as agents use them: real processes and real sockets.

mod fixture;
mod http;
mod kit;
mod life;
mod results;
mod stage;
mod web;
