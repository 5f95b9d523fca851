//! Agents: a model with a prompt and tools, whose turns are runs.
//!
//! [`conversation`] has the types that all providers share. A [`ModelProvider`] calls one model and streams
//! its answer.
//!
//! The loop between a model and tools is pure: an [`AgentTurn`] returns the next action and receives its
//! result. A [`Toolset`] defines what the model may call. [`content_pieces`] converts messages and results
//! into content that a model can read. [`turn_record`] has the forms that are stored in the log,
//! [`append_turn_from_log`] reads a log back as a conversation, and [`history_compaction`] shortens a long
//! one.

mod agent;
mod agent_resources;
mod agent_spec;
pub mod approval_question;
mod built_in_tools;
pub mod content_pieces;
pub mod conversation;
pub mod history_compaction;
mod mcp;
pub mod provider;
#[cfg(test)]
mod samples;
pub mod schema_form;
mod tool_naming;
mod toolset;
mod transcript_from_log;
mod turn;
pub mod turn_record;
mod usage_report;

pub use agent::{AgentLoader, AgentProgram};
pub use agent_resources::{
    AgentResources, ConfiguredModel, FIRST_ANSWER_TIMEOUT_DEFAULT, ResourcesSnapshot, TokenPrice,
    UnknownModelError,
};
pub use agent_spec::{AgentSkill, AgentSpec, CALLS_DEFAULT, TOOL_CALLS_DEFAULT, ToolPermission, TurnBudgets};
pub use built_in_tools::BuiltInTools;
pub use conversation::{
    ContentPiece, ConversationEntry, EndedTaskNote, FinishReason, ModelAnswer, ModelRequest,
    OpenQuestionNote, TokenUsage, ToolArguments, ToolSpec, ToolUse,
};
pub use mcp::{
    McpConfig, McpConfigFinding, McpServerConfig, McpServerPhase, McpServerStatus, McpServerTransport,
    McpServers, MissingEnvVar,
};
pub use provider::{
    Delta, DeltaStream, HttpModelProvider, ModelAnswerBuilder, ModelEndpoint, ModelEndpointError, ModelError,
    ModelProvider,
};
pub use tool_naming::{SERVER_SEPARATOR, sanitize_tool_name};
pub use toolset::{
    DISPATCH_PREFIX, OfferedTool, PEER_WORKFLOW_PREFIX, REPLY_TOOL, STATUS_TOOL, ToolTarget, Toolset,
    UnknownToolError,
};
pub use transcript_from_log::append_turn_from_log;
pub(crate) use transcript_from_log::log_has_compaction;
pub use turn::{
    AgentTurn, NextTurnAction, PendingToolCall, TurnEnding, TurnError, TurnLimit, TurnOutcome,
    TurnRequestContext, TurnUsage, WORKFLOW_INPUT_NOTE,
};
pub use turn_record::{CompactedHistory, RecordedModelCall, ToolCallPosition, ToolCallRecord};
pub use usage_report::{ModelUsageReport, ModelUsageTotals, model_usage_of_event};
