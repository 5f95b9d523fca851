//! The actions of a walk, done on a run's stage.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use trackway_definition::{
    Definition,
    drive::{self, Action, Emission, Move, Place, Stuck, Turn},
    model::OnFailure,
};
use trackway_domain::{Artifact, ArtifactId, Inputs, Object, Part, Reason, RunId, StepOutcome};

use super::{each::each, prompt::Work};
use crate::{RetryPolicy, Stage, Tools};

/// Where a walk ended, and its output or why it has none.
pub(super) type Walked = (Object, Result<Value, Halt>);

/// Why a walk has no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Halt {
    Failed(String),
    /// The workflow declined.
    Rejected(String),
}

impl Halt {
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Failed(reason) | Self::Rejected(reason) => reason,
        }
    }
}

/// Walks a definition on behalf of one run. Cheap to clone.
#[derive(Clone)]
pub(super) struct Driver {
    pub(super) stage: Stage,
    definition: Arc<Definition>,
    tools: Arc<Tools>,
}

impl Driver {
    pub(super) fn new(stage: Stage, definition: Arc<Definition>, tools: Arc<Tools>) -> Self {
        Self { stage, definition, tools }
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    pub(super) fn run(&self) -> RunId {
        self.stage.run()
    }

    pub(super) async fn say(&self, text: &str) {
        self.stage.status(vec![Part::text(text)]).await;
    }

    /// Goes on to the end. `within` is before the names of steps: items of a map have the same steps, and
    /// a step is recorded under its name.
    pub(super) async fn walk(&self, within: &str, first: Move) -> Walked {
        let mut moved = first;
        loop {
            for warning in &moved.warnings {
                self.say(&warning.message).await;
            }
            let place = moved.place;
            let (step, action) = match moved.turn {
                Turn::Done { output } => return (place.context().clone(), Ok(output)),
                Turn::Act { step, action, .. } => (step, action),
            };
            let name = format!("{within}{step}");
            let done = match action {
                Action::Prompt { agent, text, expected } => {
                    let work = Work { agent, text, expected };
                    let done = self.prompt(&name, &place, work).await;
                    done.map_err(|reason| format!("step {step:?}: {reason}"))
                }
                Action::Reject { reason } => {
                    return (place.context().clone(), Err(Halt::Rejected(reason)));
                }
                action => match self.act(&name, &place, action).await {
                    Ok(result) => {
                        let inputs = Inputs { output: Some(result), ..Inputs::default() };
                        self.answer(&place, &inputs).map_err(|stuck| told(&stuck))
                    }
                    Err(reason) => Err(format!("step {step:?}: {reason}")),
                },
            };
            moved = match done {
                Ok(moved) => moved,
                Err(reason) => return (place.context().clone(), Err(Halt::Failed(reason))),
            };
        }
    }

    async fn act(&self, name: &str, place: &Place, action: Action) -> Result<Value, String> {
        match action {
            // Done by `prompt`, whose result is more than a value.
            Action::Prompt { .. } => Ok(Value::Null),
            // Ends the walk.
            Action::Reject { .. } => Ok(Value::Null),
            Action::Ask { message, schema, authorize, artifact } => {
                let prompt = vec![Part::text(message)];
                let reason = if authorize { Reason::AuthRequired } else { Reason::InputRequired };
                let artifact = match artifact {
                    Some((name, content)) => Some(made(&name, content)?),
                    None => None,
                };
                let (_, answer) = self.stage.ask(reason, prompt, schema, artifact).await;
                Ok(answer.input)
            }
            Action::Status { text } => {
                self.say(&text).await;
                Ok(Value::String(text))
            }
            Action::Tool { name: tool, args } => self.call(name, &tool, args).await,
            Action::Emit { artifact, content } => self.emit(&artifact, content).await,
            Action::Map { items, limit, on_failure } => {
                self.map(name, place, items, limit, on_failure).await
            }
        }
    }

    pub(super) fn answer(&self, place: &Place, inputs: &Inputs) -> Result<Move, Stuck> {
        drive::answer(&self.definition, place, inputs)
    }

    /// Calls a tool as a recorded step.
    async fn call(&self, name: &str, tool: &str, args: Object) -> Result<Value, String> {
        let args = Value::Object(args);
        let mut work = |attempt| -> BoxFuture<'_, _> {
            Box::pin(self.tools.call(&self.stage, tool, args.clone(), attempt))
        };
        let (_, outcome) = self.stage.step(name, RetryPolicy::default(), &mut work).await;
        match outcome {
            StepOutcome::Ok(value) => Ok(value),
            StepOutcome::Err(failure) => Err(format!("tool {tool:?} failed: {}", failure.message)),
        }
    }

    async fn emit(&self, name: &str, content: Emission) -> Result<Value, String> {
        self.stage.artifact(made(name, content)?.into()).await;
        // The result is the content, whatever is answered.
        Ok(Value::Null)
    }

    /// Boxed, because items may have maps of their own.
    fn map<'a>(
        &'a self,
        name: &'a str,
        place: &'a Place,
        items: Vec<Value>,
        limit: u32,
        on_failure: OnFailure,
    ) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let at_once = usize::try_from(limit).unwrap_or(usize::MAX);
            let item = |index: usize| {
                let first = drive::item(&self.definition, place, index, &items[index]);
                Box::pin(self.item(format!("{name}[{index}]/"), first))
            };
            let stops =
                |result: &Result<Value, String>| on_failure == OnFailure::Fail && result.is_err();
            let (results, stopped) = each(items.len(), at_once, item, stops).await;
            let Some(index) = stopped else {
                return drive::collect(on_failure, results.into_iter().flatten());
            };
            let reason = results.into_iter().nth(index).flatten().and_then(Result::err);
            Err(format!("item {index}: {}", reason.unwrap_or_default()))
        })
    }

    async fn item(&self, within: String, first: Result<Move, Stuck>) -> Result<Value, String> {
        match first {
            // One item does not decline for all of them.
            Ok(first) => self.walk(&within, first).await.1.map_err(|halt| halt.reason().to_owned()),
            Err(stuck) => Err(told(&stuck)),
        }
    }
}

fn made(name: &str, content: Emission) -> Result<Artifact, String> {
    let id = ArtifactId::new(name)
        .map_err(|error| format!("an artifact cannot have this name: {error}"))?;
    let part = match content {
        Emission::Text(text) => Part::text(text),
        Emission::Data(data) => Part::data(data),
    };
    Ok(Artifact::new(id, vec![part]).named(name))
}

/// Why a walk is stuck as one text: where, what is the matter, and what would mend it.
pub(super) fn told(Stuck { step, block }: &Stuck) -> String {
    let mut text = match step {
        Some(step) => format!("step {step:?}: {}", block.message),
        None => block.message.clone(),
    };
    for need in &block.needs {
        if !text.contains(&need.message) {
            text.push_str("; ");
            text.push_str(&need.message);
        }
        if !text.contains(&need.pointer) {
            text.push_str(&format!(" ({})", need.pointer));
        }
    }
    text
}
