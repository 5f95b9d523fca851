//! Which definitions the engine can drive from their start to their end.

use std::fmt;

use trackway_definition::{
    Definition,
    model::{Step, StepKind},
};

use crate::Tools;

/// Why the engine cannot drive a definition. An outside agent can, over MCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// A step is work for an agent.
    Prompt {
        step: String,
    },
    UnknownTool {
        step: String,
        tool: String,
    },
    /// Something in it is not supported, for nobody.
    Unsupported {
        path: String,
        message: String,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt { step } => write!(f, "its step {step:?} is work for an agent"),
            Self::UnknownTool { step, tool } => {
                write!(f, "its step {step:?} needs the tool {tool:?}, which is not known here")
            }
            Self::Unsupported { path, message } => write!(f, "{path}: {message}"),
        }
    }
}

/// Why the engine cannot drive this definition; none where it can.
pub(super) fn unfit(definition: &Definition, tools: &Tools) -> Option<Unfit> {
    if let Some(unheeded) = definition.unheeded.iter().find(|unheeded| unheeded.matters) {
        let (path, message) = (unheeded.path.clone(), unheeded.message.clone());
        return Some(Unfit::Unsupported { path, message });
    }
    let mut ahead: Vec<&Step> = definition.steps.iter().chain(&definition.on_exit).collect();
    // In the order of the file, so that the first such step is named.
    ahead.reverse();
    while let Some(step) = ahead.pop() {
        match &step.kind {
            StepKind::Prompt(_) => return Some(Unfit::Prompt { step: step.id.clone() }),
            StepKind::Tool(tool) if tools.get(&tool.name).is_none() => {
                let (step, tool) = (step.id.clone(), tool.name.clone());
                return Some(Unfit::UnknownTool { step, tool });
            }
            _ => ahead.extend(inner(&step.kind).into_iter().rev()),
        }
    }
    None
}

/// The steps inside of a step.
fn inner(kind: &StepKind) -> Vec<&Step> {
    match kind {
        StepKind::Nested(nested) => nested.steps.iter().collect(),
        StepKind::Switch(switch) => switch.cases.iter().flat_map(|case| &case.steps).collect(),
        StepKind::Loop(repeated) => repeated.steps.iter().collect(),
        StepKind::Map(map) => map.steps.iter().collect(),
        StepKind::Group(steps) => steps.iter().collect(),
        StepKind::Prompt(_) | StepKind::Ask(_) | StepKind::Tool(_) | StepKind::Emit(_) => {
            Vec::new()
        }
    }
}
