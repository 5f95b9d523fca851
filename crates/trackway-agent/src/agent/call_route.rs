//! The target of a call. It is recorded with the answer that made the call, because tools and workflows
//! may change before the turn resumes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AgentSpec, OfferedTool, Permission, REPLY_TOOL, RecordedModelCall, STATUS_TOOL, ToolArguments,
    ToolTarget, ToolUse, Toolset, toolset,
};

/// A model's answer, and the targets of its calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RoutedAnswer {
    #[serde(flatten)]
    pub(super) recorded: RecordedModelCall,
    /// In the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) routes: Vec<CallRoute>,
}

/// The target of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CallRoute {
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

impl CallRoute {
    /// `repeats` returns whether a tool can be called again, `is_said` whether an answer to a task is
    /// in the user's message.
    pub(super) fn from_call(
        call: &ToolUse,
        (spec, tools): (&AgentSpec, &Toolset),
        repeats: &dyn Fn(&str) -> bool,
        is_said: &dyn Fn(&Value) -> bool,
    ) -> Self {
        let arguments = match &call.arguments {
            ToolArguments::Json(arguments) => arguments,
            ToolArguments::Broken { reason, .. } => {
                return Self::from_broken_arguments(call, tools, reason);
            }
        };
        if call.tool == STATUS_TOOL {
            return match toolset::permission_for(&spec.approvals, [STATUS_TOOL, STATUS_TOOL]) {
                Permission::Deny => Self::Denied,
                approval => Self::Status { ask: approval == Permission::Ask },
            };
        }
        if call.tool == REPLY_TOOL {
            return match answer_task_permission(spec) {
                Permission::Deny => Self::Denied,
                Permission::Ask => Self::Reply { ask: true },
                Permission::Allow => Self::Reply { ask: !is_said(arguments) },
            };
        }
        let offered = match tools.find_tool(&call.tool) {
            Ok(offered) => offered,
            Err(unknown) => return Self::NoTarget { why: unknown.to_string() },
        };
        if offered.approval == Permission::Deny {
            return Self::Denied;
        }
        Self::from_offered_tool(offered, arguments, repeats)
    }

    fn from_broken_arguments(call: &ToolUse, tools: &Toolset, reason: &str) -> Self {
        let why = format!(
            "The arguments are not JSON ({reason}). Nothing was started. Call it again with one JSON object."
        );
        match tools.find_tool(&call.tool) {
            Ok(OfferedTool { target: ToolTarget::Workflow(name), spec, .. }) => {
                let description = spec.description.clone();
                Self::NotStarted { name: name.clone(), description, why }
            }
            _ => Self::NoTarget { why },
        }
    }

    fn from_offered_tool(offered: &OfferedTool, arguments: &Value, repeats: &dyn Fn(&str) -> bool) -> Self {
        let ask = offered.approval == Permission::Ask;
        let input = offered.input_from_arguments(arguments.clone());
        match &offered.target {
            ToolTarget::Tool(name) => {
                Self::Tool { name: name.clone(), input: Some(input), ask, once: !repeats(name) }
            }
            ToolTarget::Workflow(name) => {
                let description = offered.spec.description.clone();
                Self::Workflow { name: name.clone(), description, input, ask }
            }
        }
    }

    pub(super) fn needs_approval(&self) -> bool {
        match self {
            Self::Tool { ask, .. } | Self::Workflow { ask, .. } | Self::Status { ask } => *ask,
            Self::NoTarget { .. } | Self::NotStarted { .. } | Self::Denied | Self::ReplyOfUser => false,
            // The user confirms once the question is known.
            Self::Reply { .. } => false,
        }
    }
}

/// The confirmation question before the model answers a task.
pub(super) fn answer_task_permission(spec: &AgentSpec) -> Permission {
    toolset::permission_for(&spec.approvals, [REPLY_TOOL, REPLY_TOOL])
}
