//! Workflow definitions as programs: the engine drives a definition.
//!
//! A [`DefinitionProgram`] walks its definition as any program runs: from the start on every resume, with
//! the recorded results. `step_actions` carries out the actions of a walk, `bounded_concurrency` runs the
//! items of a map in parallel, `drive_refusal` decides which definitions the engine can drive, and
//! `catalogue_sync` keeps a registry in step with the workflow folders.
//!
//! Exit steps run once, as the last thing that the program does, whether it completes or fails. A rejected
//! run has never begun, so it has none. A failed exit step is reported and does not change how the run ends.
//! If something else ends a run (a caller cancels it, its deadline passes), its program cannot run them any
//! more, and the engine starts a separate run for them: workflow `<id>.exit`.

mod agent_prompt_step;
mod bounded_concurrency;
mod catalogue_sync;
mod drive_refusal;
mod step_actions;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trackway_definition::{Definition, engine_walk};
use trackway_domain::{Failure, Object, WorkflowRef};
use trackway_ports::PinnedDefinition;

use crate::{Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramStop, Stage, Tools};

pub use catalogue_sync::{CatalogueSync, RegistrationRefusal};
pub use drive_refusal::DriveRefusal;
use step_actions::{DefinitionDriver, WalkError, format_blocked_walk};

/// The suffix of the workflow name that means only the exit steps.
const EXIT_SUFFIX: &str = ".exit";

/// A definition that the engine drives.
#[derive(Debug)]
pub struct DefinitionProgram {
    info: ProgramInfo,
    part: DefinitionPart,
    definition: Arc<Definition>,
    tools: Arc<Tools>,
}

/// Which part of a definition runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DefinitionPart {
    Steps,
    Exit,
}

impl DefinitionProgram {
    /// The program of the steps of a definition with this hash.
    pub fn new(definition: Arc<Definition>, hash: &str, tools: Arc<Tools>) -> Self {
        Self::for_definition_part(DefinitionPart::Steps, definition, hash, tools)
    }

    fn for_definition_part(
        aim: DefinitionPart,
        definition: Arc<Definition>,
        hash: &str,
        tools: Arc<Tools>,
    ) -> Self {
        let Definition { id, name, description, .. } = &*definition;
        let open = json!({ "type": "object" });
        let modes = || ProgramInfo::MODES_DEFAULT.map(str::to_owned).to_vec();
        let (called, description, input_schema) = match aim {
            DefinitionPart::Steps => {
                (id.clone(), description.clone(), definition.input.clone().unwrap_or(open.clone()))
            }
            DefinitionPart::Exit => (
                exit_steps_workflow_name(id),
                format!("The exit steps of {id}, after it was ended."),
                open.clone(),
            ),
        };
        let info = ProgramInfo {
            name: called,
            kind: ProgramKind::Workflow,
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
        Self { info, part: aim, definition, tools }
    }
}

impl Program for DefinitionProgram {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        let driver = DefinitionDriver::new(stage, self.definition.clone(), self.tools.clone());
        match self.part {
            DefinitionPart::Steps => Box::pin(run_definition_steps(driver, input)),
            DefinitionPart::Exit => Box::pin(run_only_exit_steps(driver, input)),
        }
    }

    fn pinned_source(&self) -> Option<PinnedDefinition> {
        Some(PinnedDefinition { hash: self.info.version.clone(), body: self.definition.to_canonical_json() })
    }

    fn first_answer_timeout(&self) -> Option<Duration> {
        self.definition.first_answer_timeout.map(|seconds| Duration::from_secs(seconds.into()))
    }

    fn exit_workflow(&self) -> Option<WorkflowRef> {
        let has_exit = self.part == DefinitionPart::Steps && !self.definition.on_exit.is_empty();
        let WorkflowRef { name, version } = self.info.workflow_ref();
        has_exit.then(|| WorkflowRef { name: exit_steps_workflow_name(&name), version })
    }
}

fn exit_steps_workflow_name(workflow_id: &str) -> String {
    format!("{workflow_id}{EXIT_SUFFIX}")
}

/// The program of a definition that the store keeps.
pub(crate) fn load_pinned_definition_program(
    workflow: &WorkflowRef,
    body: &str,
    tools: &Arc<Tools>,
) -> Option<Arc<dyn Program>> {
    let definition = Definition::from_pinned_json(body)
        .inspect_err(|reason| tracing::warn!(workflow = workflow.name, reason, "unreadable"))
        .ok()?;
    let aim = if workflow.name == definition.id {
        DefinitionPart::Steps
    } else if workflow.name == exit_steps_workflow_name(&definition.id) {
        DefinitionPart::Exit
    } else {
        return None;
    };
    let (definition, tools) = (Arc::new(definition), tools.clone());
    Some(Arc::new(DefinitionProgram::for_definition_part(aim, definition, &workflow.version, tools)))
}

/// The whole workflow: its steps, then its exit steps.
async fn run_definition_steps(driver: DefinitionDriver, input: Value) -> Result<Value, ProgramStop> {
    let Value::Object(context) = input else {
        return Err(ProgramStop::Rejected("the input is not an object".to_owned()));
    };
    let first = engine_walk::begin_engine_run(driver.definition(), &context)
        .map_err(|stuck| ProgramStop::Rejected(format_blocked_walk(&stuck)))?;
    let (context, result) = driver.walk_definition_to_end("", first).await;
    let (ended, reason) = match &result {
        Ok(_) => ("completed", ""),
        Err(WalkError::Failed(reason)) => ("failed", reason.as_str()),
        Err(WalkError::Rejected(reason)) => ("rejected", reason.as_str()),
    };
    // Reported even if it does not change how the run ends: a person has to handle it.
    if let Err(why) = run_exit_steps(&driver, context, ended, reason).await {
        driver.report_status(&format!("The exit steps failed: {why}")).await;
    }
    result.map_err(program_stop_from_walk_error)
}

fn program_stop_from_walk_error(halt: WalkError) -> ProgramStop {
    match halt {
        WalkError::Failed(reason) => failed_program_stop(reason),
        WalkError::Rejected(reason) => ProgramStop::Rejected(reason),
    }
}

/// Only the exit steps, for a run that something else ended.
async fn run_only_exit_steps(driver: DefinitionDriver, mut input: Value) -> Result<Value, ProgramStop> {
    let context = match input["context"].take() {
        Value::Object(context) => context,
        _ => Object::new(),
    };
    let run = input["run"].take();
    let ended = input["ended"].as_str().unwrap_or_default().to_owned();
    let context = build_exit_steps_context(context, run, &ended, "");
    match engine_walk::begin_exit_steps(driver.definition(), &context) {
        Ok(first) => driver.walk_definition_to_end("", first).await.1.map_err(program_stop_from_walk_error),
        Err(stuck) => Err(failed_program_stop(format_blocked_walk(&stuck))),
    }
}

async fn run_exit_steps(
    driver: &DefinitionDriver,
    context: Object,
    ended: &str,
    reason: &str,
) -> Result<Value, String> {
    let context = build_exit_steps_context(context, json!(driver.run_id()), ended, reason);
    let first = engine_walk::begin_exit_steps(driver.definition(), &context)
        .map_err(|stuck| format_blocked_walk(&stuck))?;
    driver.walk_definition_to_end("", first).await.1.map_err(|halt| halt.walk_error_reason().to_owned())
}

/// The context of the exit steps: the results of the run, and how it ended.
fn build_exit_steps_context(mut context: Object, run: Value, ended: &str, reason: &str) -> Object {
    context.insert("run".to_owned(), run);
    context.insert("ended".to_owned(), ended.into());
    context.insert("reason".to_owned(), reason.into());
    context
}

fn failed_program_stop(reason: String) -> ProgramStop {
    ProgramStop::Failed(Failure::new(reason))
}
