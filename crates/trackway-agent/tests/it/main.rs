//! Providers and whole turns against a scripted model server on real sockets; MCP servers as real processes.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod anthropic;
mod gemini;
mod mcp;
mod openai;
mod responses;
mod sample;
mod shapes;
mod turns;
