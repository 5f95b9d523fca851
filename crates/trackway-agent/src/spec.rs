//! What an agent is: what somebody wrote down about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An agent as written. A turn keeps the one that it began with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentSpec {
    pub name: String,
    pub description: String,
    /// The name of a model of the workspace, or `provider/model`; the default one where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Patterns with `*` of the tools that it may call.
    pub tools: Vec<String>,
    /// Patterns with `*` of the workflows that it may dispatch.
    pub workflows: Vec<String>,
    /// Patterns with `*` of the peers that it may call.
    pub peers: Vec<String>,
    /// What is asked before a tool is called; patterns with `*`, the longest that matches counts.
    pub approvals: BTreeMap<String, Approval>,
    pub budgets: Budgets,
    /// Seconds without a word after which the model counts as silent and is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_timeout: Option<u64>,
    /// Seconds that a dispatch waits for the first answer of a workflow; patterns with `*`, the longest that
    /// matches counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub first_answer_timeouts: BTreeMap<String, u64>,
    /// What the card says that it can do.
    pub skills: Vec<Skill>,
    pub prompt: String,
}

/// Whether a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// Without asking.
    Allow,
    /// When the user says yes.
    Ask,
    /// Not at all; the model is told.
    Deny,
}

/// What one turn may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// Calls of the model.
    pub calls: u32,
    /// Calls of tools and workflows that its answers make.
    #[serde(default = "tool_calls_default")]
    pub tool_calls: u32,
    /// Tokens, in and out together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Seconds from its start, waiting for people not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Money, in the currency of the prices in the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Calls of the model in one turn unless an agent says otherwise: enough for real work, and an end to a
/// model that goes round in circles.
///
/// Limit (Agents): model calls of one turn; `budgets.calls` of an agent's file.
pub const CALLS_DEFAULT: u32 = 20;

/// Tool calls of one turn unless an agent says otherwise: several for each model call.
///
/// Limit (Agents): tool calls of one turn; `budgets.tool_calls` of an agent's file.
pub const TOOL_CALLS_DEFAULT: u32 = 100;

fn tool_calls_default() -> u32 {
    TOOL_CALLS_DEFAULT
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            calls: CALLS_DEFAULT,
            tool_calls: TOOL_CALLS_DEFAULT,
            tokens: None,
            seconds: None,
            cost: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    pub name: String,
    pub description: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub examples: Vec<String>,
}
