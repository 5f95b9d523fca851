//! The definition of an agent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An agent's definition. A turn keeps the definition that it began with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentSpec {
    pub name: String,
    pub description: String,
    /// The name of a model of the workspace, or `provider/model`; the default model if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Patterns with `*` of the tools that it may call.
    pub tools: Vec<String>,
    /// Patterns with `*` of the workflows that it may dispatch.
    pub workflows: Vec<String>,
    /// Patterns with `*` of the peers that it may call.
    pub peers: Vec<String>,
    /// The approval before a tool is called; patterns with `*`, the longest match wins.
    pub approvals: BTreeMap<String, ToolPermission>,
    pub budgets: TurnBudgets,
    /// Seconds of silence after which the model call is retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_timeout: Option<u64>,
    /// Seconds that a dispatch waits for the first answer of a workflow; patterns with `*`, the longest
    /// match wins.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub first_answer_timeouts: BTreeMap<String, u64>,
    /// The skills on the agent's card.
    pub skills: Vec<AgentSkill>,
    pub prompt: String,
}

/// Whether a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolPermission {
    /// Without asking.
    Allow,
    /// After the user agrees.
    Ask,
    /// Never; the model receives an error.
    Deny,
}

/// The budgets of one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnBudgets {
    /// Calls of the model.
    pub calls: u32,
    /// Calls of tools and workflows by the model's answers.
    #[serde(default = "tool_calls_default")]
    pub tool_calls: u32,
    /// Tokens, input and output together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Seconds from its start, without the time that it waits for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Money, in the currency of the prices in the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Model calls of one turn unless an agent sets another number: enough for real work, and an end for a
/// model that loops.
///
/// Limit (Agents): model calls of one turn; `budgets.calls` of an agent's file.
pub const CALLS_DEFAULT: u32 = 20;

/// Tool calls of one turn unless an agent sets another number: several for each model call.
///
/// Limit (Agents): tool calls of one turn; `budgets.tool_calls` of an agent's file.
pub const TOOL_CALLS_DEFAULT: u32 = 100;

fn tool_calls_default() -> u32 {
    TOOL_CALLS_DEFAULT
}

impl Default for TurnBudgets {
    fn default() -> Self {
        Self { calls: CALLS_DEFAULT, tool_calls: TOOL_CALLS_DEFAULT, tokens: None, seconds: None, cost: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSkill {
    pub name: String,
    pub description: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub examples: Vec<String>,
}
