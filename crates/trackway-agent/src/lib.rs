//! Agents: a model with a prompt and tools, whose turns are runs.
//!
//! [`conversation`] has the words that models of every provider share. A [`Provider`] asks one of them
//! and streams what it says.

pub mod conversation;
mod mcp;
pub mod provider;
mod spec;
mod tools;
mod workshop;

pub use conversation::{Answer, Arguments, Call, Entry, Finish, Piece, Request, ToolSpec, Usage};
pub use mcp::{
    ConfigProblem, McpConfig, McpServers, Missing, Phase, Reach, ServerConfig, ServerStatus,
};
pub use provider::{Delta, Deltas, ModelError, Provider};
pub use spec::{AgentSpec, Approval, Budgets, CALLS_DEFAULT, Skill};
pub use tools::BuiltIn;
pub use workshop::{FIRST_ANSWER_TIMEOUT_DEFAULT, Model, NoModel, Price, Stock, Workshop};
