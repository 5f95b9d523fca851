//! Agents: a model with a prompt and tools, whose turns are runs.
//!
//! [`conversation`] has the types that all providers share. A [`ModelProvider`] calls one model and streams
//! its answer.
//!
//! The loop between a model and tools is pure: an [`AgentTurn`] returns the next action and receives its
//! result. A [`Toolset`] defines what the model may call. [`content_pieces`] converts messages and results
//! into content that a model can read. [`turn_record`] has the forms that are stored in the log,
//! [`append_turn_from_log`] reads a log back as a conversation, and [`compact`] shortens a long one.

mod agent;
mod agent_resources;
mod agent_spec;
pub mod approval_question;
mod built_in_tools;
pub mod compact;
pub mod content_pieces;
pub mod conversation;
mod mcp;
pub mod provider;
#[cfg(test)]
mod samples;
pub mod schema_form;
mod tool_naming;
mod toolset;
mod transcript;
mod turn;
pub mod turn_record;
mod usage_report;

pub use agent::{AgentLoader, AgentProgram};
pub use agent_resources::{
    AgentResources, ConfiguredModel, FIRST_ANSWER_TIMEOUT_DEFAULT, Snapshot, TokenPrice, UnknownModelError,
};
pub use agent_spec::{AgentSkill, AgentSpec, CALLS_DEFAULT, Permission, TOOL_CALLS_DEFAULT, TurnBudgets};
pub use built_in_tools::BuiltInTools;
pub use conversation::{
    ContentPiece, ConversationEntry, EndedTask, FinishReason, ModelAnswer, ModelRequest, OpenQuestionNote,
    TokenUsage, ToolArguments, ToolSpec, ToolUse,
};
pub use mcp::{
    McpConfig, McpConfigFinding, McpServerConfig, McpServerStatus, McpServers, MissingEnvVar, ServerPhase,
    ServerTransport,
};
pub use provider::{
    AnswerBuilder, Delta, DeltaStream, EndpointError, HttpProvider, ModelEndpoint, ModelError, ModelProvider,
};
pub use tool_naming::{SERVER_SEPARATOR, sanitize_tool_name};
pub use toolset::{
    DISPATCH_PREFIX, OfferedTool, REPLY_TOOL, STATUS_TOOL, ToolTarget, Toolset, UnknownToolError,
};
pub use transcript::append_turn_from_log;
pub(crate) use transcript::has_compaction;
pub use turn::{
    AgentTurn, NextAction, PendingCall, RequestOptions, TurnEnding, TurnError, TurnLimit, TurnOutcome,
    TurnUsage,
};
pub use turn_record::{CallPosition, CompactedHistory, RecordedModelCall, ToolCallRecord};
pub use usage_report::{UsageReport, UsageTotals, model_usage_of_event};
