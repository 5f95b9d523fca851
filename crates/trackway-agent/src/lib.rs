//! Agents: a model with a prompt and tools, whose turns are runs.
//!
//! [`conversation`] has the types that all providers share. A [`Provider`] calls one model and streams
//! its answer.
//!
//! The loop between a model and tools is pure: a [`Turn`] returns the next action and receives its
//! result. A [`Toolset`] defines what the model may call. [`mod@pieces`] converts messages and results
//! into content that a model can read. [`record`] has the forms that are stored in the log,
//! [`transcript()`] reads a log back as a conversation, and [`compact`] shortens a long one.

mod agent;
pub mod approval;
pub mod compact;
pub mod conversation;
pub mod form;
mod mcp;
mod name;
pub mod pieces;
pub mod provider;
pub mod record;
#[cfg(test)]
mod samples;
mod spec;
mod tools;
mod toolset;
mod transcript;
mod turn;
mod usage;
mod workshop;

pub use agent::{AgentProgram, Agents};
pub use conversation::{
    Answer, Arguments, Call, EndedTask, Entry, Finish, OpenNote, Piece, Request, ToolSpec, Usage,
};
pub use mcp::{
    ConfigProblem, McpConfig, McpServers, Missing, Phase, Reach, ServerConfig, ServerStatus,
};
pub use name::{SERVER_MARK, in_plain_letters};
pub use provider::{
    BadEndpoint, Delta, Deltas, Endpoint, Gather, HttpProvider, ModelError, Provider,
};
pub use record::{CallRecord, Compacted, Place, Recorded};
pub use spec::{AgentSpec, Approval, Budgets, CALLS_DEFAULT, Skill, TOOL_CALLS_DEFAULT};
pub use tools::BuiltIn;
pub use toolset::{
    DISPATCH_PREFIX, Offered, REPLY_TOOL, STATUS_TOOL, Target, Toolset, UnknownTool,
};
pub(crate) use transcript::is_compacted;
pub use transcript::transcript;
pub use turn::{Done, Ending, Limit, Next, Offer, Turn, TurnError, Used, Waiting};
pub use usage::{Bill, Spent, model_call};
pub use workshop::{FIRST_ANSWER_TIMEOUT_DEFAULT, Model, NoModel, Price, Stock, Workshop};
