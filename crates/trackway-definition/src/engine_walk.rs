//! The engine drives: what it has to do at each step, and where the result leads.
//!
//! A driver begins with [`begin_engine_run`], carries out the [`EngineStepAction`], and passes the result
//! to [`answer_step`] until the next step is [`NextEngineStep::Done`]. In between it keeps the
//! [`WalkState`], which is plain data: a run that is resumed after a crash continues from the last one.
//!
//! ```text
//! begin_engine_run ─▶ Act(Prompt | Ask | Tool | Emit | Status) ─ do it ─▶ answer_step ─▶ Act(…) … ─▶ Done
//!                 └─▶ Act(Map) ─ for each item: begin_map_item ─▶ Act(…) ─ answer_step … ─▶ Done ─┐
//!                                    answer_step ◀─ collect_map_item_results (all items) ◀────────┘
//! ```
//!
//! - The items of a map are separate walks: [`begin_map_item`] starts one, and it is answered and ends like
//!   any walk. `limit` of them run at once. Their results go through [`collect_map_item_results`], in the
//!   order of the list, and the returned list is the answer to the map.
//! - [`begin_exit_steps`] starts a walk of the exit handlers. It is started once, however the run ends.
//! - An `Err` has moved nothing: the same state can be answered again. For a prompt with a contract, this is
//!   how the agent is asked again; the block says what was wrong.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::{AttemptInputs, BlockReason, DocumentChange, ExpectedOutput, GuidedRunWarning, Object};

use crate::{
    document_changes,
    guided::{check_run_input, prompt_text},
    model::{Definition, EmitArtifact, EmitContent, OnFailure, RunAnnouncement, Step, StepKind},
    output_check, step_prompt,
    template::render_template,
    walk::{
        WalkDriver, WalkPosition, WalkRoot, Walker, lost_position_block, owner_step_of_root,
        walk_root_inside_current_step,
    },
};

/// The position of a walk. It is valid only with the definition that it was made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalkState {
    position: WalkPosition,
    context: Object,
}

impl WalkState {
    /// The context of the current step.
    pub fn step_context(&self) -> &Object {
        &self.context
    }
}

/// The progress of a walk.
#[derive(Debug, Clone, PartialEq)]
pub struct WalkProgress {
    /// The driver keeps it and passes it back with the result.
    pub state: WalkState,
    pub next: NextEngineStep,
    /// What the answer adds to the session's documents.
    pub documents: Vec<DocumentChange>,
    pub warnings: Vec<GuidedRunWarning>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NextEngineStep {
    /// The step's action must be carried out, and its result passed to [`answer_step`].
    Act { step: String, title: String, action: EngineStepAction },
    /// The end. The output of a run, and of its exit handlers, is the context; the output of a map's item is
    /// defined by the map.
    Done { output: Value },
}

/// What the engine has to do. The `output` of the answer is the result.
#[derive(Debug, Clone, PartialEq)]
pub enum EngineStepAction {
    /// An agent works on it. None is named if the definition leaves the choice to the engine.
    Prompt {
        agent: Option<String>,
        text: String,
        expected: Option<ExpectedOutput>,
    },
    /// A person answers with something that fits the schema.
    Ask {
        message: String,
        schema: Value,
        /// The answer authorizes something.
        authorize: bool,
        /// Shown with the question: a name and its content.
        artifact: Option<(String, EmittedContent)>,
    },
    /// Watchers are informed of the progress.
    Status {
        text: String,
    },
    /// The workflow rejects its input; the walk ends here.
    Reject {
        reason: String,
    },
    Tool {
        name: String,
        args: Object,
    },
    /// The result is the content, whatever the answer is.
    Emit {
        artifact: String,
        content: EmittedContent,
    },
    /// Each item is a separate walk; see [`begin_map_item`] and [`collect_map_item_results`].
    Map {
        items: Vec<Value>,
        limit: u32,
        on_failure: OnFailure,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum EmittedContent {
    Text(String),
    Data(Value),
}

/// Why a walk cannot continue.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockedWalk {
    /// The step that lacks something: the answered one, or a later one.
    pub step: Option<String>,
    pub block: BlockReason,
}

impl From<BlockReason> for BlockedWalk {
    fn from(block: BlockReason) -> Self {
        Self { step: None, block }
    }
}

/// The first step of a run.
pub fn begin_engine_run(definition: &Definition, context: &Object) -> Result<WalkProgress, BlockedWalk> {
    check_run_input(definition, context)?;
    let walker = Walker::begin_walk(definition, WalkDriver::Engine, WalkRoot::default(), context.clone())?;
    walk_to_next_engine_step(definition, walker, Vec::new())
}

/// The first exit handler. `context` is the context of the run, with what the handlers should know about its
/// end.
pub fn begin_exit_steps(definition: &Definition, context: &Object) -> Result<WalkProgress, BlockedWalk> {
    let root = WalkRoot { exit: true, hops: Vec::new() };
    let walker = Walker::begin_walk(definition, WalkDriver::Engine, root, context.clone())?;
    walk_to_next_engine_step(definition, walker, Vec::new())
}

/// The first step for an item of the map at `state`. Its context is the map's with the names of the item;
/// only its output goes back.
pub fn begin_map_item(
    definition: &Definition,
    state: &WalkState,
    index: usize,
    value: &Value,
) -> Result<WalkProgress, BlockedWalk> {
    let walker = resume_engine_walker(definition, state)?;
    let Some(Step { kind: StepKind::Map(map), .. }) = walker.current_step() else {
        return Err(BlockedWalk::from(lost_position_block("the position is not at a map")));
    };
    let mut context = state.context.clone();
    context.insert(map.item.clone(), value.clone());
    if let Some(name) = &map.index {
        context.insert(name.clone(), Value::from(index));
    }
    let walker = Walker::begin_walk(
        definition,
        WalkDriver::Engine,
        walk_root_inside_current_step(walker.position()),
        context,
    )?;
    walk_to_next_engine_step(definition, walker, Vec::new())
}

/// The step after a result. `inputs.output` is the result. Notes and facts of a prompt are treated as those
/// of an outside agent.
pub fn answer_step(
    definition: &Definition,
    state: &WalkState,
    inputs: &AttemptInputs,
) -> Result<WalkProgress, BlockedWalk> {
    let mut walker = resume_engine_walker(definition, state)?;
    let step = walker.current_step().ok_or_else(|| lost_position_block("the walk has ended"))?;
    apply_step_answer(&mut walker, step, inputs)
        .map_err(|block| BlockedWalk { step: Some(step.id.clone()), block })
        .and_then(|documents| walk_to_next_engine_step(definition, walker, documents))
}

/// Accepts an answer to a step and moves past it. Returns the documents that it creates.
fn apply_step_answer<'d>(
    walker: &mut Walker<'d>,
    step: &'d Step,
    inputs: &AttemptInputs,
) -> Result<Vec<DocumentChange>, BlockReason> {
    walker.merge_sent_facts(&inputs.context);
    let mut result = inputs.output.clone().unwrap_or_default();
    let mut documents = Vec::new();
    match &step.kind {
        StepKind::Prompt(_) | StepKind::Ask(_) => {
            if let Some(prompt) = step_prompt::prompt_of_step(step) {
                output_check::check_step_answer(&prompt, inputs, walker.current_context())?;
                documents = document_changes::document_changes(&prompt, &step.id, inputs);
            }
        }
        StepKind::Emit(emit) => result = walker.render_emitted_artifact(emit)?.1,
        StepKind::Map(_) if !result.is_array() => {
            return Err(lost_position_block("the result of a map is the list of its items' results"));
        }
        _ => {}
    }
    walker.apply_loop_decisions(&result);
    walker.finish_step(step, result).map_err(|block| step_prompt::point_block_at_output(step, block))?;
    Ok(documents)
}

/// The results of a map's items, in the order of its list, as the map's result. A failed item is its reason;
/// under [`OnFailure::Fail`] the first failure is the failure of the map.
pub fn collect_map_item_results(
    on_failure: OnFailure,
    items: impl IntoIterator<Item = Result<Value, String>>,
) -> Result<Value, String> {
    let mut results = Vec::new();
    for item in items {
        match (item, on_failure) {
            (Ok(value), _) => results.push(value),
            (Err(reason), OnFailure::Fail) => return Err(reason),
            (Err(_), OnFailure::Skip) => {}
            (Err(reason), OnFailure::Keep) => results.push(serde_json::json!({"error": reason})),
        }
    }
    Ok(Value::Array(results))
}

fn resume_engine_walker<'d>(
    definition: &'d Definition,
    state: &WalkState,
) -> Result<Walker<'d>, BlockReason> {
    Walker::resume_walk(definition, WalkDriver::Engine, state.position.clone(), state.context.clone())
}

fn walk_to_next_engine_step(
    definition: &Definition,
    mut walker: Walker<'_>,
    documents: Vec<DocumentChange>,
) -> Result<WalkProgress, BlockedWalk> {
    let turn = next_engine_step(definition, &mut walker)
        .map_err(|block| BlockedWalk { step: walker.current_step().map(|step| step.id.clone()), block })?;
    let stopped = walker.into_stopped();
    let state = WalkState { position: stopped.position, context: stopped.context };
    Ok(WalkProgress { state, next: turn, documents, warnings: stopped.warnings })
}

fn next_engine_step(definition: &Definition, walker: &mut Walker<'_>) -> Result<NextEngineStep, BlockReason> {
    Ok(match walker.walk_to_next_step()? {
        Some(step) => NextEngineStep::Act {
            step: step.id.clone(),
            title: walker.read_context_supplying_facts(|names| render_template(&step.title, names))?,
            action: build_step_action(walker, step)?,
        },
        None => NextEngineStep::Done { output: walk_output(definition, walker)? },
    })
}

fn build_step_action(walker: &mut Walker<'_>, step: &Step) -> Result<EngineStepAction, BlockReason> {
    match &step.kind {
        StepKind::Prompt(prompt) => Ok(EngineStepAction::Prompt {
            agent: prompt.agent.clone(),
            text: prompt_text(walker, prompt)?,
            expected: output_check::expected_step_output(prompt),
        }),
        StepKind::Ask(ask) => Ok(EngineStepAction::Ask {
            message: walker.read_context_supplying_facts(|names| render_template(&ask.message, names))?,
            schema: ask.schema.clone(),
            authorize: ask.authorize,
            artifact: match &ask.artifact {
                Some(artifact) => Some(render_emitted_content(walker, artifact)?),
                None => None,
            },
        }),
        StepKind::Announce(RunAnnouncement::Status(text)) => Ok(EngineStepAction::Status {
            text: walker.read_context_supplying_facts(|names| render_template(text, names))?,
        }),
        StepKind::Announce(RunAnnouncement::Reject(text)) => Ok(EngineStepAction::Reject {
            reason: walker.read_context_supplying_facts(|names| render_template(text, names))?,
        }),
        StepKind::Tool(tool) => Ok(EngineStepAction::Tool {
            name: tool.name.clone(),
            args: walker.resolve_value_expressions(&tool.args)?,
        }),
        StepKind::Emit(emit) => {
            let (artifact, content) = render_emitted_content(walker, emit)?;
            Ok(EngineStepAction::Emit { artifact, content })
        }
        StepKind::Map(map) => Ok(EngineStepAction::Map {
            items: walker.resolve_map_items(step, map)?,
            limit: map.limit,
            on_failure: map.on_failure,
        }),
        StepKind::Nested(_) | StepKind::Switch(_) | StepKind::Loop(_) | StepKind::Group(_) => {
            Err(lost_position_block("the position is not at a step"))
        }
    }
}

fn render_emitted_content(
    walker: &mut Walker<'_>,
    emit: &EmitArtifact,
) -> Result<(String, EmittedContent), BlockReason> {
    let (artifact, value) = walker.render_emitted_artifact(emit)?;
    let content = match (&emit.content, value) {
        (EmitContent::Text(_), Value::String(text)) => EmittedContent::Text(text),
        (_, value) => EmittedContent::Data(value),
    };
    Ok((artifact, content))
}

/// The output of a walk that has ended.
fn walk_output(definition: &Definition, walker: &mut Walker<'_>) -> Result<Value, BlockReason> {
    let owner = owner_step_of_root(definition, &walker.position().root).map(|step| &step.kind);
    match owner {
        Some(StepKind::Map(map)) => walker.map_item_result(map),
        _ => Ok(Value::Object(walker.current_context().clone())),
    }
}

#[cfg(test)]
pub(crate) mod tests;
