//! What a call stands for, recorded with the answer that made it: tools and workflows may be others when
//! the turn is taken up again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Approval, Arguments, Call, Offered, REPLY_TOOL, Recorded, Target, Toolset};

/// A model's answer, and what its calls stand for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Routed {
    #[serde(flatten)]
    pub(super) recorded: Recorded,
    /// In the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) routes: Vec<Route>,
}

/// Where a call goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Route {
    /// Nowhere, and what the model is told.
    Nowhere {
        why: String,
    },
    /// The agent may not call it.
    Never,
    Tool {
        name: String,
        /// None in records of before it was kept: the arguments were the input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
        ask: bool,
        /// It is not called again where it is not known what came of it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        once: bool,
    },
    Workflow {
        name: String,
        description: String,
        input: Value,
        ask: bool,
    },
    /// To a workflow of the session that waits for an answer, on the model's word.
    Reply,
    /// To whatever in the session waits for an answer: the user said it.
    ReplyOfUser,
}

impl Route {
    /// `repeats` says whether a tool can be called again.
    pub(super) fn of(call: &Call, tools: &Toolset, repeats: &dyn Fn(&str) -> bool) -> Self {
        let Arguments::Json(arguments) = &call.arguments else {
            return Self::Nowhere { why: "the arguments are not JSON".to_owned() };
        };
        if call.tool == REPLY_TOOL {
            return Self::Reply;
        }
        let offered = match tools.find(&call.tool) {
            Ok(offered) => offered,
            Err(unknown) => return Self::Nowhere { why: unknown.to_string() },
        };
        if offered.approval == Approval::Never {
            return Self::Never;
        }
        Self::to(offered, arguments, repeats)
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
            Self::Tool { ask, .. } | Self::Workflow { ask, .. } => *ask,
            Self::Nowhere { .. } | Self::Never | Self::Reply | Self::ReplyOfUser => false,
        }
    }
}
