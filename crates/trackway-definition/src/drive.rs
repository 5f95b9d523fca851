//! The engine drives: what it has to do at each step, and where the result leads.
//!
//! A driver begins with [`begin`], does what the [`Turn`] says, and gives the result to [`answer`] until
//! the turn is [`Turn::Done`]. Between turns it keeps the [`Place`], which is plain data: a run that is
//! taken up after a crash goes on from the last one that was kept.
//!
//! ```text
//! begin ─▶ Act(Prompt | Ask | Tool | Emit | Say) ─ do it ─▶ answer ─▶ Act(…) … ─▶ Done
//!      └─▶ Act(Map) ─ for each item: item ─▶ Act(…) ─ answer … ─▶ Done ─┐
//!                                    answer ◀─ collect (all items) ◀────┘
//! ```
//!
//! - The items of a map are walks of their own: [`item`] begins one, and it is answered and ends as any
//!   walk does. `limit` of them are worked on at once. What each came to goes through [`collect`], in the
//!   order of the list, and the list that makes is the answer to the map.
//! - [`exit`] begins a walk of the exit handlers. It is begun once, however the run ends.
//! - An `Err` has moved nothing: the same place can be answered again. For a prompt with a contract that
//!   is the way to ask the agent again; the block says what was wrong.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::{Block, DocumentChange, Expected, Inputs, Object, Warning};

use crate::{
    asked, contract, documents,
    guide::{check_input, prompt_text},
    model::{Definition, Emit, EmitContent, OnFailure, Say, Step, StepKind},
    template::render,
    walk::{Mode, Root, Walk, Walker, lost, owner, way},
};

/// Where a walk stands. It is read together with the definition that it was made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    walk: Walk,
    context: Object,
}

impl Place {
    /// The context of the step at hand.
    pub fn context(&self) -> &Object {
        &self.context
    }
}

/// Where a walk has come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Kept by the driver and given back with the result.
    pub place: Place,
    pub turn: Turn,
    /// What the answer adds to the session's documents.
    pub documents: Vec<DocumentChange>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// The step's action is to be done, and its result to be answered.
    Act { step: String, title: String, action: Action },
    /// The end. The output of a run, and of its exit handlers, is the context; that of a map's item is
    /// what the map says.
    Done { output: Value },
}

/// What the engine has to do. The answer's `output` is the result.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// An agent works on it; none is named where the definition leaves that to the engine.
    Prompt {
        agent: Option<String>,
        text: String,
        expected: Option<Expected>,
    },
    /// A person answers with something that fits the schema.
    Ask {
        message: String,
        schema: Value,
        /// The answer authorizes something.
        authorize: bool,
        /// Shown with it: a name and its content.
        artifact: Option<(String, Emission)>,
    },
    /// Those who watch are told how far it has come.
    Status {
        text: String,
    },
    /// The workflow declines; the walk ends here.
    Reject {
        reason: String,
    },
    Tool {
        name: String,
        args: Object,
    },
    /// The result is the content, whatever the answer says.
    Emit {
        artifact: String,
        content: Emission,
    },
    /// Each item is a walk of its own; see [`item`] and [`collect`].
    Map {
        items: Vec<Value>,
        limit: u32,
        on_failure: OnFailure,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Emission {
    Text(String),
    Data(Value),
}

/// Why a walk cannot go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Stuck {
    /// The step that lacks something: the one that was answered, or one that comes after it.
    pub step: Option<String>,
    pub block: Block,
}

impl From<Block> for Stuck {
    fn from(block: Block) -> Self {
        Self { step: None, block }
    }
}

/// The first step of a run.
pub fn begin(definition: &Definition, context: &Object) -> Result<Move, Stuck> {
    check_input(definition, context)?;
    let walker = Walker::begin(definition, Mode::Engine, Root::default(), context.clone())?;
    go(definition, walker, Vec::new())
}

/// The first exit handler. `context` is what the run had come to, with what the handlers are to know of
/// its end.
pub fn exit(definition: &Definition, context: &Object) -> Result<Move, Stuck> {
    let root = Root { exit: true, hops: Vec::new() };
    let walker = Walker::begin(definition, Mode::Engine, root, context.clone())?;
    go(definition, walker, Vec::new())
}

/// The first step for an item of the map at which `place` stands. Its context is the map's with the
/// names of the item; nothing of it goes back but its output.
pub fn item(
    definition: &Definition,
    place: &Place,
    index: usize,
    value: &Value,
) -> Result<Move, Stuck> {
    let walker = resume(definition, place)?;
    let Some(Step { kind: StepKind::Map(map), .. }) = walker.here() else {
        return Err(Stuck::from(lost("the place is not at a map")));
    };
    let mut context = place.context.clone();
    context.insert(map.item.clone(), value.clone());
    if let Some(name) = &map.index {
        context.insert(name.clone(), Value::from(index));
    }
    let walker = Walker::begin(definition, Mode::Engine, way(walker.walk()), context)?;
    go(definition, walker, Vec::new())
}

/// The step after a result. `inputs.output` is the result; a prompt's notes and the facts that an agent
/// came by are taken as they are from an outside agent.
pub fn answer(definition: &Definition, place: &Place, inputs: &Inputs) -> Result<Move, Stuck> {
    let mut walker = resume(definition, place)?;
    let step = walker.here().ok_or_else(|| lost("the walk has ended"))?;
    settle(&mut walker, step, inputs)
        .map_err(|block| Stuck { step: Some(step.id.clone()), block })
        .and_then(|documents| go(definition, walker, documents))
}

/// Takes an answer to a step, and goes past it. The documents that it makes come back.
fn settle<'d>(
    walker: &mut Walker<'d>,
    step: &'d Step,
    inputs: &Inputs,
) -> Result<Vec<DocumentChange>, Block> {
    walker.learn(&inputs.context);
    let mut result = inputs.output.clone().unwrap_or_default();
    let mut documents = Vec::new();
    match &step.kind {
        StepKind::Prompt(_) | StepKind::Ask(_) => {
            if let Some(prompt) = asked::prompt(step) {
                contract::check(&prompt, inputs, walker.context())?;
                documents = documents::changes(&prompt, &step.id, inputs);
            }
        }
        StepKind::Emit(emit) => result = walker.emitted_of(emit)?.1,
        StepKind::Map(_) if !result.is_array() => {
            return Err(lost("the result of a map is the list of its items' results"));
        }
        _ => {}
    }
    walker.heed(&result);
    walker.finish(step, result).map_err(|block| asked::blame(step, block))?;
    Ok(documents)
}

/// What the items of a map came to, in the order of its list, as the map's result. An item that failed
/// is its reason; under [`OnFailure::Fail`] the first of them is the map's own.
pub fn collect(
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

fn resume<'d>(definition: &'d Definition, place: &Place) -> Result<Walker<'d>, Block> {
    Walker::resume(definition, Mode::Engine, place.walk.clone(), place.context.clone())
}

fn go(
    definition: &Definition,
    mut walker: Walker<'_>,
    documents: Vec<DocumentChange>,
) -> Result<Move, Stuck> {
    let turn = turn(definition, &mut walker)
        .map_err(|block| Stuck { step: walker.here().map(|step| step.id.clone()), block })?;
    let stopped = walker.stop();
    let place = Place { walk: stopped.walk, context: stopped.context };
    Ok(Move { place, turn, documents, warnings: stopped.warnings })
}

fn turn(definition: &Definition, walker: &mut Walker<'_>) -> Result<Turn, Block> {
    Ok(match walker.go()? {
        Some(step) => Turn::Act {
            step: step.id.clone(),
            title: walker.look(|names| render(&step.title, names))?,
            action: action(walker, step)?,
        },
        None => Turn::Done { output: output(definition, walker)? },
    })
}

fn action(walker: &mut Walker<'_>, step: &Step) -> Result<Action, Block> {
    match &step.kind {
        StepKind::Prompt(prompt) => Ok(Action::Prompt {
            agent: prompt.agent.clone(),
            text: prompt_text(walker, prompt)?,
            expected: contract::expected(prompt),
        }),
        StepKind::Ask(ask) => Ok(Action::Ask {
            message: walker.look(|names| render(&ask.message, names))?,
            schema: ask.schema.clone(),
            authorize: ask.authorize,
            artifact: match &ask.artifact {
                Some(artifact) => Some(content(walker, artifact)?),
                None => None,
            },
        }),
        StepKind::Say(Say::Status(text)) => {
            Ok(Action::Status { text: walker.look(|names| render(text, names))? })
        }
        StepKind::Say(Say::Reject(text)) => {
            Ok(Action::Reject { reason: walker.look(|names| render(text, names))? })
        }
        StepKind::Tool(tool) => {
            Ok(Action::Tool { name: tool.name.clone(), args: walker.values(&tool.args)? })
        }
        StepKind::Emit(emit) => {
            let (artifact, content) = content(walker, emit)?;
            Ok(Action::Emit { artifact, content })
        }
        StepKind::Map(map) => Ok(Action::Map {
            items: walker.items(step, map)?,
            limit: map.limit,
            on_failure: map.on_failure,
        }),
        StepKind::Nested(_) | StepKind::Switch(_) | StepKind::Loop(_) | StepKind::Group(_) => {
            Err(lost("the place is not at a step"))
        }
    }
}

fn content(walker: &mut Walker<'_>, emit: &Emit) -> Result<(String, Emission), Block> {
    let (artifact, value) = walker.emitted_of(emit)?;
    let content = match (&emit.content, value) {
        (EmitContent::Text(_), Value::String(text)) => Emission::Text(text),
        (_, value) => Emission::Data(value),
    };
    Ok((artifact, content))
}

/// What a walk that has ended came to.
fn output(definition: &Definition, walker: &mut Walker<'_>) -> Result<Value, Block> {
    let owner = owner(definition, &walker.walk().root).map(|step| &step.kind);
    match owner {
        Some(StepKind::Map(map)) => walker.item_result(map),
        _ => Ok(Value::Object(walker.context().clone())),
    }
}

#[cfg(test)]
pub(crate) mod tests;
