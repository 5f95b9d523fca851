//! The target of a call. It is recorded with the answer that made the call, because tools and workflows
//! may change before the turn resumes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AgentSpec, OfferedTool, REPLY_TOOL, RecordedModelCall, STATUS_TOOL, ToolArguments, ToolPermission,
    ToolTarget, ToolUse, Toolset, toolset,
};

/// A model's answer, and the targets of its calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RoutedModelAnswer {
    #[serde(flatten)]
    pub(super) recorded: RecordedModelCall,
    /// In the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) routes: Vec<ToolCallRoute>,
}

/// The target of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ToolCallRoute {
    /// No target, and the message for the model.
    NoTarget {
        why: String,
    },
    /// The agent may not call it.
    Denied,
    Tool {
        name: String,
        /// None in records from older versions: there the arguments were the input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
        ask: bool,
        /// The call is not repeated if its outcome is unknown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        once: bool,
    },
    Workflow {
        name: String,
        description: String,
        input: Value,
        ask: bool,
    },
    /// The tool of a peer.
    Peer {
        peer: String,
        input: Value,
        ask: bool,
    },
    /// A workflow whose arguments are not JSON. Nothing is started.
    NotStarted {
        name: String,
        description: String,
        why: String,
    },
    /// The status of tasks that this conversation dispatched.
    Status {
        ask: bool,
    },
    /// A workflow of the session that waits for an answer; the model answers.
    Reply {
        /// The user confirms first: the answer is not in the user's message.
        ask: bool,
    },
    /// Any question of the session; the user answers.
    ReplyOfUser,
}

impl ToolCallRoute {
    /// `repeats` returns whether a tool can be called again, `is_said` whether an answer to a task is
    /// in the user's message.
    pub(super) fn route_from_tool_call(
        call: &ToolUse,
        (spec, tools): (&AgentSpec, &Toolset),
        is_repeatable: &dyn Fn(&str) -> bool,
        is_in_user_message: &dyn Fn(&Value) -> bool,
    ) -> Self {
        let arguments = match &call.arguments {
            ToolArguments::Json(arguments) => arguments,
            ToolArguments::Broken { reason, .. } => {
                return Self::route_for_broken_arguments(call, tools, reason);
            }
        };
        if call.tool == STATUS_TOOL {
            return match toolset::permission_for_tool_names(&spec.approvals, &[STATUS_TOOL]) {
                ToolPermission::Deny => Self::Denied,
                approval => Self::Status { ask: approval == ToolPermission::Ask },
            };
        }
        if call.tool == REPLY_TOOL {
            return match permission_to_answer_tasks(spec) {
                ToolPermission::Deny => Self::Denied,
                ToolPermission::Ask => Self::Reply { ask: true },
                ToolPermission::Allow => Self::Reply { ask: !is_in_user_message(arguments) },
            };
        }
        let offered = match tools.find_offered_tool(&call.tool) {
            Ok(offered) => offered,
            Err(unknown) => return Self::NoTarget { why: unknown.to_string() },
        };
        if offered.approval == ToolPermission::Deny {
            return Self::Denied;
        }
        Self::route_to_offered_tool(offered, arguments, is_repeatable)
    }

    fn route_for_broken_arguments(call: &ToolUse, tools: &Toolset, reason: &str) -> Self {
        let why = format!(
            "The arguments are not JSON ({reason}). Nothing was started. Call it again with one JSON object."
        );
        match tools.find_offered_tool(&call.tool) {
            Ok(OfferedTool { target: ToolTarget::Workflow(name), spec, .. }) => {
                let description = spec.description.clone();
                Self::NotStarted { name: name.clone(), description, why }
            }
            _ => Self::NoTarget { why },
        }
    }

    fn route_to_offered_tool(
        offered: &OfferedTool,
        arguments: &Value,
        is_repeatable: &dyn Fn(&str) -> bool,
    ) -> Self {
        let ask = offered.approval == ToolPermission::Ask;
        let input = offered.tool_input_from_arguments(arguments.clone());
        match &offered.target {
            ToolTarget::Tool(name) => {
                Self::Tool { name: name.clone(), input: Some(input), ask, once: !is_repeatable(name) }
            }
            ToolTarget::Workflow(name) => {
                let description = offered.spec.description.clone();
                Self::Workflow { name: name.clone(), description, input, ask }
            }
            ToolTarget::Peer(peer) => Self::Peer { peer: peer.clone(), input, ask },
        }
    }

    pub(super) fn needs_user_approval(&self) -> bool {
        match self {
            Self::Tool { ask, .. }
            | Self::Workflow { ask, .. }
            | Self::Peer { ask, .. }
            | Self::Status { ask } => *ask,
            Self::NoTarget { .. } | Self::NotStarted { .. } | Self::Denied | Self::ReplyOfUser => false,
            // The user confirms once the question is known.
            Self::Reply { .. } => false,
        }
    }
}

/// The confirmation question before the model answers a task.
pub(super) fn permission_to_answer_tasks(spec: &AgentSpec) -> ToolPermission {
    toolset::permission_for_tool_names(&spec.approvals, &[REPLY_TOOL])
}
