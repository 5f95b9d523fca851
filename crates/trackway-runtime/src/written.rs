//! Written workflows as programs: the engine drives a definition.
//!
//! A [`DefinitionProgram`] walks its definition as any program runs: from the start on every resume,
//! with what is recorded handed back to it. `act` does the actions of a walk, `each` has the items of a
//! map worked on side by side, `fit` says which definitions the engine can drive, and `offer` keeps a
//! registry in step with the workflow folders.
//!
//! Exit steps run once, as the last thing that the program does, whether it completes or fails; a run
//! that is rejected has never begun, and has none. What fails among them is told, and changes nothing
//! about how the run ends. Where something else ends a run (somebody cancels it, its deadline passes),
//! its program cannot do them any more, and the engine owes a run of their own: workflow `<id>.exit`.

mod act;
mod each;
mod fit;
mod offer;
mod prompt;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trackway_definition::{Definition, drive};
use trackway_domain::{Failure, Object, WorkflowRef};
use trackway_ports::Pinned;

use crate::{Kind, Program, ProgramFuture, ProgramInfo, Stage, Stop, Tools};

use act::{Driver, Halt, told};
pub use fit::Unfit;
pub use offer::{Declined, Offers};

/// What a workflow's name has behind it where only its exit steps are meant.
const EXIT_SUFFIX: &str = ".exit";

/// A definition that the engine drives.
#[derive(Debug)]
pub struct DefinitionProgram {
    info: ProgramInfo,
    aim: Aim,
    definition: Arc<Definition>,
    tools: Arc<Tools>,
}

/// What of a definition is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    Steps,
    Exit,
}

impl DefinitionProgram {
    /// The steps of a definition, which has this hash.
    pub fn new(definition: Arc<Definition>, hash: &str, tools: Arc<Tools>) -> Self {
        Self::of(Aim::Steps, definition, hash, tools)
    }

    fn of(aim: Aim, definition: Arc<Definition>, hash: &str, tools: Arc<Tools>) -> Self {
        let Definition { id, name, description, .. } = &*definition;
        let open = json!({ "type": "object" });
        let modes = || ProgramInfo::MODES_DEFAULT.map(str::to_owned).to_vec();
        let (called, description, input_schema) = match aim {
            Aim::Steps => {
                (id.clone(), description.clone(), definition.input.clone().unwrap_or(open.clone()))
            }
            Aim::Exit => (
                exit_name(id),
                format!("The exit steps of {id}, after it was ended."),
                open.clone(),
            ),
        };
        let info = ProgramInfo {
            name: called,
            kind: Kind::Workflow,
            version: hash.to_owned(),
            description,
            tags: vec![name.clone()],
            examples: Vec::new(),
            skills: Vec::new(),
            input_schema,
            output_schema: open,
            input_modes: modes(),
            output_modes: modes(),
            extensions: Vec::new(),
            deadline: None,
        };
        Self { info, aim, definition, tools }
    }
}

impl Program for DefinitionProgram {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        let driver = Driver::new(stage, self.definition.clone(), self.tools.clone());
        match self.aim {
            Aim::Steps => Box::pin(steps(driver, input)),
            Aim::Exit => Box::pin(exit_alone(driver, input)),
        }
    }

    fn pin(&self) -> Option<Pinned> {
        Some(Pinned { hash: self.info.version.clone(), body: self.definition.normal() })
    }

    fn first_answer_timeout(&self) -> Option<Duration> {
        self.definition.first_answer_timeout.map(|seconds| Duration::from_secs(seconds.into()))
    }

    fn exit(&self) -> Option<WorkflowRef> {
        let has_exit = self.aim == Aim::Steps && !self.definition.on_exit.is_empty();
        let WorkflowRef { name, version } = self.info.workflow();
        has_exit.then(|| WorkflowRef { name: exit_name(&name), version })
    }
}

fn exit_name(id: &str) -> String {
    format!("{id}{EXIT_SUFFIX}")
}

/// The program of a definition that the store keeps.
pub(crate) fn revive(
    workflow: &WorkflowRef,
    body: &str,
    tools: &Arc<Tools>,
) -> Option<Arc<dyn Program>> {
    let definition = Definition::pinned(body)
        .inspect_err(|reason| tracing::warn!(workflow = workflow.name, reason, "unreadable"))
        .ok()?;
    let aim = if workflow.name == definition.id {
        Aim::Steps
    } else if workflow.name == exit_name(&definition.id) {
        Aim::Exit
    } else {
        return None;
    };
    let (definition, tools) = (Arc::new(definition), tools.clone());
    Some(Arc::new(DefinitionProgram::of(aim, definition, &workflow.version, tools)))
}

/// The whole workflow: its steps, then its exit steps.
async fn steps(driver: Driver, input: Value) -> Result<Value, Stop> {
    let Value::Object(context) = input else {
        return Err(Stop::Rejected("the input is not an object".to_owned()));
    };
    let first = drive::begin(driver.definition(), &context)
        .map_err(|stuck| Stop::Rejected(told(&stuck)))?;
    let (context, result) = driver.walk("", first).await;
    let (ended, reason) = match &result {
        Ok(_) => ("completed", ""),
        Err(Halt::Failed(reason)) => ("failed", reason.as_str()),
        Err(Halt::Rejected(reason)) => ("rejected", reason.as_str()),
    };
    // Said whether or not it matters to how the run ends: somebody has to look after it.
    if let Err(why) = exit(&driver, context, ended, reason).await {
        driver.say(&format!("The exit steps failed: {why}")).await;
    }
    result.map_err(stopped)
}

fn stopped(halt: Halt) -> Stop {
    match halt {
        Halt::Failed(reason) => failed(reason),
        Halt::Rejected(reason) => Stop::Rejected(reason),
    }
}

/// Only the exit steps, of a run that something else ended.
async fn exit_alone(driver: Driver, mut input: Value) -> Result<Value, Stop> {
    let context = match input["context"].take() {
        Value::Object(context) => context,
        _ => Object::new(),
    };
    let run = input["run"].take();
    let ended = input["ended"].as_str().unwrap_or_default().to_owned();
    let context = at_end(context, run, &ended, "");
    match drive::exit(driver.definition(), &context) {
        Ok(first) => driver.walk("", first).await.1.map_err(stopped),
        Err(stuck) => Err(failed(told(&stuck))),
    }
}

async fn exit(
    driver: &Driver,
    context: Object,
    ended: &str,
    reason: &str,
) -> Result<Value, String> {
    let context = at_end(context, json!(driver.run()), ended, reason);
    let first = drive::exit(driver.definition(), &context).map_err(|stuck| told(&stuck))?;
    driver.walk("", first).await.1.map_err(|halt| halt.reason().to_owned())
}

/// What exit steps see: what the run had come to, and how it ended.
fn at_end(mut context: Object, run: Value, ended: &str, reason: &str) -> Object {
    context.insert("run".to_owned(), run);
    context.insert("ended".to_owned(), ended.into());
    context.insert("reason".to_owned(), reason.into());
    context
}

fn failed(reason: String) -> Stop {
    Stop::Failed(Failure::new(reason))
}
