//! Token-driven workflows from an agent's view: the real binary behind the official MCP clients.
//!
//! `client` checks every answer for the rules that hold for all of them: the text and the JSON name the
//! same tokens, each once and alone on its line, and nothing was thrown.

#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments are written where they are sent, and nobody needs them afterwards"
)]

mod answer;
mod blocks;
mod client;
mod confirms;
mod contexts;
mod corpus;
mod damage;
mod definition_files;
mod discovery;
mod drift;
mod errors;
mod forks;
mod http;
mod imports;
mod mcp_workspace;
mod obedient_agent;
mod outputs;
mod people;
mod processes;
mod raw_stdio_client;
mod replays;
mod served;
mod sessions;
mod stdio;
mod switches;
mod tokens;
