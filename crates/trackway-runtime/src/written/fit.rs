//! Which definitions the engine can drive from their start to their end.

use std::fmt;

use trackway_definition::{
    Definition,
    model::{Prompt, Step, StepKind},
};

use crate::{Kind, Registry, Tools};

/// Why the engine cannot drive a definition. An outside agent can, over MCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// A step is work for an outside agent: it names none of the engine's.
    Prompt {
        step: String,
    },
    /// A step is work for an agent that is not here.
    UnknownAgent {
        step: String,
        agent: String,
    },
    /// A step wants a person to agree, which only an outside agent can bring about.
    Confirm {
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
            Self::Prompt { step } => {
                write!(f, "its step {step:?} is work for an agent, and names none")
            }
            Self::UnknownAgent { step, agent } => {
                write!(
                    f,
                    "its step {step:?} is work for the agent {agent:?}, which is not known here"
                )
            }
            Self::Confirm { step } => write!(
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

/// Why the engine cannot drive this definition; none where it can.
pub(super) fn unfit(definition: &Definition, tools: &Tools, registry: &Registry) -> Option<Unfit> {
    if let Some(unheeded) = definition.unheeded.iter().find(|unheeded| unheeded.matters) {
        let (path, message) = (unheeded.path.clone(), unheeded.message.clone());
        return Some(Unfit::Unsupported { path, message });
    }
    let mut ahead: Vec<&Step> = definition.steps.iter().chain(&definition.on_exit).collect();
    // In the order of the file, so that the first such step is named.
    ahead.reverse();
    while let Some(step) = ahead.pop() {
        match &step.kind {
            StepKind::Prompt(prompt) => {
                if let Some(unfit) = unfit_prompt(&step.id, prompt, registry) {
                    return Some(unfit);
                }
            }
            StepKind::Tool(tool) if tools.get(&tool.name).is_none() => {
                let (step, tool) = (step.id.clone(), tool.name.clone());
                return Some(Unfit::UnknownTool { step, tool });
            }
            _ => ahead.extend(inner(&step.kind).into_iter().rev()),
        }
    }
    None
}

fn unfit_prompt(step: &str, prompt: &Prompt, registry: &Registry) -> Option<Unfit> {
    let step = step.to_owned();
    let Some(agent) = &prompt.agent else {
        return Some(Unfit::Prompt { step });
    };
    let known = registry.get(agent).is_some_and(|known| known.info().kind == Kind::Agent);
    if !known {
        return Some(Unfit::UnknownAgent { step, agent: agent.clone() });
    }
    prompt.confirm.is_some().then_some(Unfit::Confirm { step })
}

/// The steps inside of a step.
fn inner(kind: &StepKind) -> Vec<&Step> {
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
        | StepKind::Say(_) => Vec::new(),
    }
}
