//! The target of a call. It is recorded with the answer that made the call, because tools and workflows
//! may change before the turn resumes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AgentSpec, Approval, Arguments, Call, Offered, REPLY_TOOL, Recorded, STATUS_TOOL, Target,
    Toolset, toolset,
};

/// A model's answer, and the targets of its calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Routed {
    #[serde(flatten)]
    pub(super) recorded: Recorded,
    /// In the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) routes: Vec<Route>,
}

/// The target of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Route {
    /// No target, and the message for the model.
    Nowhere {
        why: String,
    },
    /// The agent may not call it.
    Never,
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

impl Route {
    /// `repeats` returns whether a tool can be called again, `is_said` whether an answer to a task is
    /// in the user's message.
    pub(super) fn of(
        call: &Call,
        (spec, tools): (&AgentSpec, &Toolset),
        repeats: &dyn Fn(&str) -> bool,
        is_said: &dyn Fn(&Value) -> bool,
    ) -> Self {
        let arguments = match &call.arguments {
            Arguments::Json(arguments) => arguments,
            Arguments::Broken { reason, .. } => return Self::broken(call, tools, reason),
        };
        if call.tool == STATUS_TOOL {
            return match toolset::approval(&spec.approvals, [STATUS_TOOL, STATUS_TOOL]) {
                Approval::Deny => Self::Never,
                approval => Self::Status { ask: approval == Approval::Ask },
            };
        }
        if call.tool == REPLY_TOOL {
            return match reply_approval(spec) {
                Approval::Deny => Self::Never,
                Approval::Ask => Self::Reply { ask: true },
                Approval::Allow => Self::Reply { ask: !is_said(arguments) },
            };
        }
        let offered = match tools.find(&call.tool) {
            Ok(offered) => offered,
            Err(unknown) => return Self::Nowhere { why: unknown.to_string() },
        };
        if offered.approval == Approval::Deny {
            return Self::Never;
        }
        Self::to(offered, arguments, repeats)
    }

    fn broken(call: &Call, tools: &Toolset, reason: &str) -> Self {
        let why = format!(
            "The arguments are not JSON ({reason}). Nothing was started. Call it again with one JSON object."
        );
        match tools.find(&call.tool) {
            Ok(Offered { target: Target::Workflow(name), spec, .. }) => {
                let description = spec.description.clone();
                Self::NotStarted { name: name.clone(), description, why }
            }
            _ => Self::Nowhere { why },
        }
    }

    fn to(offered: &Offered, arguments: &Value, repeats: &dyn Fn(&str) -> bool) -> Self {
        let ask = offered.approval == Approval::Ask;
        let input = offered.input(arguments.clone());
        match &offered.target {
            Target::Tool(name) => {
                Self::Tool { name: name.clone(), input: Some(input), ask, once: !repeats(name) }
            }
            Target::Workflow(name) => {
                let description = offered.spec.description.clone();
                Self::Workflow { name: name.clone(), description, input, ask }
            }
        }
    }

    pub(super) fn asks(&self) -> bool {
        match self {
            Self::Tool { ask, .. } | Self::Workflow { ask, .. } | Self::Status { ask } => *ask,
            Self::Nowhere { .. } | Self::NotStarted { .. } | Self::Never | Self::ReplyOfUser => {
                false
            }
            // The user confirms once the question is known.
            Self::Reply { .. } => false,
        }
    }
}

/// The confirmation question before the model answers a task.
pub(super) fn reply_approval(spec: &AgentSpec) -> Approval {
    toolset::approval(&spec.approvals, [REPLY_TOOL, REPLY_TOOL])
}
