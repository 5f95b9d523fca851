//! Which definitions the engine can drive from their start to their end.

use std::fmt;

use trackway_definition::{
    Definition,
    model::{PromptStep, Step, StepKind},
};

use crate::{ProgramKind, ProgramRegistry, Tools};

/// Why the engine cannot drive a definition. An outside agent can, over MCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriveRefusal {
    /// A step is work for an outside agent: it names no agent of the engine.
    PromptWithoutAgent {
        step: String,
    },
    /// A step is work for an agent that is not registered here.
    UnknownAgent {
        step: String,
        agent: String,
    },
    /// A step needs a person's confirmation, which only an outside agent can get.
    NeedsConfirmation {
        step: String,
    },
    UnknownTool {
        step: String,
        tool: String,
    },
    /// It contains a construct that nothing supports.
    Unsupported {
        path: String,
        message: String,
    },
}

impl fmt::Display for DriveRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PromptWithoutAgent { step } => {
                write!(f, "its step {step:?} is work for an agent, and names none")
            }
            Self::UnknownAgent { step, agent } => {
                write!(f, "its step {step:?} is work for the agent {agent:?}, which is not known here")
            }
            Self::NeedsConfirmation { step } => write!(
                f,
                "its step {step:?} has to be confirmed, which an outside agent can ask for; use an `ask` step instead"
            ),
            Self::UnknownTool { step, tool } => {
                write!(f, "its step {step:?} needs the tool {tool:?}, which is not known here")
            }
            Self::Unsupported { path, message } => write!(f, "{path}: {message}"),
        }
    }
}

/// Why the engine cannot drive this definition; none if it can.
pub(super) fn find_drive_refusal(
    definition: &Definition,
    tools: &Tools,
    registry: &ProgramRegistry,
) -> Option<DriveRefusal> {
    if let Some(unheeded) = definition.unsupported.iter().find(|unheeded| unheeded.matters) {
        let (path, message) = (unheeded.path.clone(), unheeded.message.clone());
        return Some(DriveRefusal::Unsupported { path, message });
    }
    let mut ahead: Vec<&Step> = definition.steps.iter().chain(&definition.on_exit).collect();
    // In the order of the file, so that the first such step is named.
    ahead.reverse();
    while let Some(step) = ahead.pop() {
        match &step.kind {
            StepKind::Prompt(prompt) => {
                if let Some(unfit) = find_prompt_step_refusal(&step.id, prompt, registry) {
                    return Some(unfit);
                }
            }
            StepKind::Tool(tool) if tools.find_tool(&tool.name).is_none() => {
                let (step, tool) = (step.id.clone(), tool.name.clone());
                return Some(DriveRefusal::UnknownTool { step, tool });
            }
            _ => ahead.extend(nested_steps(&step.kind).into_iter().rev()),
        }
    }
    None
}

fn find_prompt_step_refusal(
    step: &str,
    prompt: &PromptStep,
    registry: &ProgramRegistry,
) -> Option<DriveRefusal> {
    let step = step.to_owned();
    let Some(agent) = &prompt.agent else {
        return Some(DriveRefusal::PromptWithoutAgent { step });
    };
    let known = registry.current_program(agent).is_some_and(|known| known.info().kind == ProgramKind::Agent);
    if !known {
        return Some(DriveRefusal::UnknownAgent { step, agent: agent.clone() });
    }
    prompt.confirm.is_some().then_some(DriveRefusal::NeedsConfirmation { step })
}

/// The steps inside of a step.
fn nested_steps(kind: &StepKind) -> Vec<&Step> {
    match kind {
        StepKind::Nested(nested) => nested.steps.iter().collect(),
        StepKind::Switch(switch) => switch.cases.iter().flat_map(|case| &case.steps).collect(),
        StepKind::Loop(repeated) => repeated.steps.iter().collect(),
        StepKind::Map(map) => map.steps.iter().collect(),
        StepKind::Group(steps) => steps.iter().collect(),
        StepKind::Prompt(_)
        | StepKind::Ask(_)
        | StepKind::Tool(_)
        | StepKind::Emit(_)
        | StepKind::Announce(_) => Vec::new(),
    }
}
