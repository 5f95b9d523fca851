//! The actions of a walk, carried out on a run's stage.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use trackway_definition::{
    Definition,
    engine_walk::{
        self, BlockedWalk, EmittedContent, EngineStepAction, NextEngineStep, WalkProgress, WalkState,
    },
    model::OnFailure,
};
use trackway_domain::{
    Artifact, ArtifactId, AttemptInputs, InterruptReason, Object, Part, RunId, StepOutcome,
};

use super::{agent_prompt_step::AgentPromptTask, bounded_concurrency::bounded_join};
use crate::{RetryPolicy, Stage, Tools};

/// The context at the end of a walk, and its output or why it has none.
pub(super) type WalkResult = (Object, Result<Value, WalkError>);

/// Why a walk has no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WalkError {
    Failed(String),
    /// The workflow rejected its input.
    Rejected(String),
}

impl WalkError {
    pub(super) fn walk_error_reason(&self) -> &str {
        match self {
            Self::Failed(reason) | Self::Rejected(reason) => reason,
        }
    }
}

/// Walks a definition on behalf of one run. Cheap to clone.
#[derive(Clone)]
pub(super) struct DefinitionDriver {
    pub(super) stage: Stage,
    definition: Arc<Definition>,
    tools: Arc<Tools>,
}

impl DefinitionDriver {
    pub(super) fn new(stage: Stage, definition: Arc<Definition>, tools: Arc<Tools>) -> Self {
        Self { stage, definition, tools }
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    pub(super) fn run_id(&self) -> RunId {
        self.stage.run_id()
    }

    pub(super) async fn report_status(&self, text: &str) {
        self.stage.report_status(vec![Part::text(text)]).await;
    }

    /// Walks to the end. `key_prefix` comes before the names of steps: items of a map have the same steps,
    /// and a step is recorded under its name.
    pub(super) async fn walk_definition_to_end(&self, key_prefix: &str, first: WalkProgress) -> WalkResult {
        let mut moved = first;
        loop {
            for warning in &moved.warnings {
                self.report_status(&warning.message).await;
            }
            let state = moved.state;
            let (step, action) = match moved.next {
                NextEngineStep::Done { output } => return (state.step_context().clone(), Ok(output)),
                NextEngineStep::Act { step, action, .. } => (step, action),
            };
            let name = format!("{key_prefix}{step}");
            let done = match action {
                EngineStepAction::Prompt { agent, text, expected } => {
                    let work = AgentPromptTask { agent, text, expected };
                    let done = self.run_prompt_step(&name, &state, work).await;
                    done.map_err(|reason| format!("step {step:?}: {reason}"))
                }
                EngineStepAction::Reject { reason } => {
                    return (state.step_context().clone(), Err(WalkError::Rejected(reason)));
                }
                action => match self.perform_step_action(&name, &state, action).await {
                    Ok(result) => {
                        let inputs = AttemptInputs { output: Some(result), ..AttemptInputs::default() };
                        self.answer_step(&state, &inputs).map_err(|stuck| format_blocked_walk(&stuck))
                    }
                    Err(reason) => Err(format!("step {step:?}: {reason}")),
                },
            };
            moved = match done {
                Ok(moved) => moved,
                Err(reason) => return (state.step_context().clone(), Err(WalkError::Failed(reason))),
            };
        }
    }

    async fn perform_step_action(
        &self,
        step_name: &str,
        state: &WalkState,
        action: EngineStepAction,
    ) -> Result<Value, String> {
        match action {
            // Done by `run_prompt_step`, whose result is more than a value.
            EngineStepAction::Prompt { .. } => Ok(Value::Null),
            // Ends the walk.
            EngineStepAction::Reject { .. } => Ok(Value::Null),
            EngineStepAction::Ask { message, schema, authorize, artifact } => {
                let prompt = vec![Part::text(message)];
                let reason =
                    if authorize { InterruptReason::AuthRequired } else { InterruptReason::InputRequired };
                let artifact = match artifact {
                    Some((name, content)) => Some(build_emitted_artifact(&name, content)?),
                    None => None,
                };
                let (_, answer) = self.stage.ask_question(reason, prompt, schema, artifact).await;
                Ok(answer.input)
            }
            EngineStepAction::Status { text } => {
                self.report_status(&text).await;
                Ok(Value::String(text))
            }
            EngineStepAction::Tool { name: tool, args } => {
                self.call_tool_of_step(step_name, &tool, args).await
            }
            EngineStepAction::Emit { artifact, content } => self.emit_artifact(&artifact, content).await,
            EngineStepAction::Map { items, limit, on_failure } => {
                self.run_map_step(step_name, state, items, limit, on_failure).await
            }
        }
    }

    pub(super) fn answer_step(
        &self,
        state: &WalkState,
        inputs: &AttemptInputs,
    ) -> Result<WalkProgress, BlockedWalk> {
        engine_walk::answer_step(&self.definition, state, inputs)
    }

    /// Calls a tool as a recorded step.
    async fn call_tool_of_step(&self, step_name: &str, tool: &str, args: Object) -> Result<Value, String> {
        let args = Value::Object(args);
        let mut work = |attempt| -> BoxFuture<'_, _> {
            Box::pin(self.tools.call_tool(&self.stage, tool, args.clone(), attempt))
        };
        let (_, outcome) = self.stage.step(step_name, RetryPolicy::default(), &mut work).await;
        match outcome {
            StepOutcome::Ok(value) => Ok(value),
            StepOutcome::Err(failure) => Err(format!("tool {tool:?} failed: {}", failure.message)),
        }
    }

    async fn emit_artifact(&self, step_name: &str, content: EmittedContent) -> Result<Value, String> {
        self.stage.emit_artifact(build_emitted_artifact(step_name, content)?.into()).await;
        // The result is the content, whatever the answer is.
        Ok(Value::Null)
    }

    /// Boxed, because items may contain maps.
    fn run_map_step<'a>(
        &'a self,
        step_name: &'a str,
        state: &'a WalkState,
        items: Vec<Value>,
        concurrency_max: u32,
        on_failure: OnFailure,
    ) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let at_once = usize::try_from(concurrency_max).unwrap_or(usize::MAX);
            let item = |index: usize| {
                let first = engine_walk::begin_map_item(&self.definition, state, index, &items[index]);
                Box::pin(self.run_map_item(format!("{step_name}[{index}]/"), first))
            };
            let stops = |result: &Result<Value, String>| on_failure == OnFailure::Fail && result.is_err();
            let (results, stopped) = bounded_join(items.len(), at_once, item, stops).await;
            let Some(index) = stopped else {
                return engine_walk::collect_map_item_results(on_failure, results.into_iter().flatten());
            };
            let reason = results.into_iter().nth(index).flatten().and_then(Result::err);
            Err(format!("item {index}: {}", reason.unwrap_or_default()))
        })
    }

    async fn run_map_item(
        &self,
        key_prefix: String,
        first: Result<WalkProgress, BlockedWalk>,
    ) -> Result<Value, String> {
        match first {
            // A rejection by one item does not reject the whole run.
            Ok(first) => self
                .walk_definition_to_end(&key_prefix, first)
                .await
                .1
                .map_err(|halt| halt.walk_error_reason().to_owned()),
            Err(stuck) => Err(format_blocked_walk(&stuck)),
        }
    }
}

fn build_emitted_artifact(name: &str, content: EmittedContent) -> Result<Artifact, String> {
    let id = ArtifactId::new(name).map_err(|error| format!("an artifact cannot have this name: {error}"))?;
    let part = match content {
        EmittedContent::Text(text) => Part::text(text),
        EmittedContent::Data(data) => Part::data(data),
    };
    Ok(Artifact::new(id, vec![part]).named(name))
}

/// Why a walk is blocked, as one text: the step, the problem, and how to fix it.
pub(super) fn format_blocked_walk(BlockedWalk { step, block }: &BlockedWalk) -> String {
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
