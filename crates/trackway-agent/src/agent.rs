//! An agent as a program: each of its runs is one turn of a conversation.
//!
//! The [`AgentTurn`](crate::AgentTurn) decides. This module carries out its decisions on the run's stage, where
//! every model call and every tool call is a recorded step. After a crash the program runs again over
//! its log and makes the same decisions. Everything that it needs again (which earlier turns it read,
//! which tool a name meant) is recorded with the step that first needed it.

mod answer_stream;
mod dispatched_tasks;
mod model_step;
mod question_reply;
mod tool_call_execution;
mod tool_call_route;
mod turn_driver;
mod turn_start;
mod workflow_dispatch;

use std::{fmt, sync::Arc};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use trackway_domain::WorkflowRef;
use trackway_ports::PinnedDefinition;
use trackway_runtime::{Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramLoader, SchemaCache, Stage};

use crate::{AgentResources, AgentSpec};

/// Media types that an agent accepts. Every part reaches its model, either unchanged or as a line that
/// describes it.
const INPUT_MODES: [&str; 1] = ["*/*"];

/// Media types that an agent itself produces. Tools and workflows may add others.
const OUTPUT_MODES: [&str; 2] = ["text/plain", "application/json"];

/// An agent that can be run.
pub struct AgentProgram {
    spec: Arc<AgentSpec>,
    info: ProgramInfo,
    /// The body that the store keeps for turns that began with this agent.
    body: String,
    resources: Arc<AgentResources>,
    schemas: Arc<SchemaCache>,
}

impl AgentProgram {
    /// Creates the agent with the services that it shares with other agents. Its version is derived
    /// from its definition.
    pub fn new(spec: AgentSpec, workshop: Arc<AgentResources>) -> Self {
        let body = json!({ BODY_KEY: spec }).to_string();
        let digest = Sha256::digest(body.as_bytes());
        let version = format!("sha256-{}", data_encoding::HEXLOWER.encode(&digest));
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let skills = spec.skills.iter().map(|skill| trackway_runtime::ProgramSkill {
            name: skill.name.clone(),
            description: skill.description.clone(),
            tags: skill.tags.clone(),
            examples: skill.examples.clone(),
        });
        let info = ProgramInfo {
            name: spec.name.clone(),
            kind: ProgramKind::Agent,
            version,
            description: spec.description.clone(),
            tags: Vec::new(),
            examples: Vec::new(),
            skills: skills.collect(),
            input_schema: json!({ "description": "Any message." }),
            output_schema: Value::Null,
            input_modes: owned(&INPUT_MODES),
            output_modes: owned(&OUTPUT_MODES),
            extensions: Vec::new(),
            deadline: None,
        };
        Self { spec: Arc::new(spec), info, body, resources: workshop, schemas: Arc::default() }
    }
}

/// The field that marks a pinned body as an agent.
const BODY_KEY: &str = "agent";

impl fmt::Debug for AgentProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Agent").field(&self.info.name).finish()
    }
}

impl Program for AgentProgram {
    fn info(&self) -> &ProgramInfo {
        &self.info
    }

    fn run(&self, stage: Stage, input: Value) -> ProgramFuture {
        let driver = turn_driver::AgentTurnDriver {
            stage,
            spec: self.spec.clone(),
            resources: self.resources.clone(),
            schemas: self.schemas.clone(),
            open_question_ids: Default::default(),
            has_dispatched: false,
            ended_tasks: Vec::new(),
        };
        Box::pin(driver.run_turn(input))
    }

    fn pinned_source(&self) -> Option<PinnedDefinition> {
        Some(PinnedDefinition { hash: self.info.version.clone(), body: self.body.clone() })
    }
}

/// Rebuilds agents from pinned bodies, for turns that began with an earlier definition.
#[derive(Debug)]
pub struct AgentLoader(pub Arc<AgentResources>);

impl ProgramLoader for AgentLoader {
    fn load_program(&self, workflow: &WorkflowRef, body: &str) -> Option<Arc<dyn Program>> {
        let body: Value = serde_json::from_str(body).ok()?;
        let spec: AgentSpec = serde_json::from_value(body.get(BODY_KEY)?.clone()).ok()?;
        let mut agent = AgentProgram::new(spec, self.0.clone());
        if agent.info.name != workflow.name {
            return None;
        }
        // The text is the same, but a later version of this program may serialize it differently.
        agent.info.version.clone_from(&workflow.version);
        Some(Arc::new(agent))
    }
}

#[cfg(test)]
mod tests;
