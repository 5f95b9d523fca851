//! Prompt steps that the engine drives: a named agent works on each as a child run, and its answer is checked
//! against what the step requires.

use serde_json::{Value, json};
use trackway_definition::engine_walk::{WalkProgress, WalkState};
use trackway_domain::{AttemptInputs, ExpectedOutput, StateName};

use super::step_actions::{DefinitionDriver, format_blocked_walk};

/// How often an agent may correct an answer that the step does not accept.
/// Limit (Runtime): times that an agent may correct the answer to a prompt step.
const REPAIRS_MAX: u32 = 2;

/// The task of an agent.
pub(super) struct AgentPromptTask {
    pub(super) agent: Option<String>,
    pub(super) text: String,
    pub(super) expected: Option<ExpectedOutput>,
}

impl DefinitionDriver {
    /// Runs an agent on a step and continues with its answer. An answer that the step does not accept is sent
    /// back with the reasons.
    pub(super) async fn run_prompt_step(
        &self,
        step_name: &str,
        state: &WalkState,
        work: AgentPromptTask,
    ) -> Result<WalkProgress, String> {
        let AgentPromptTask { agent, text, expected } = work;
        let agent = agent.ok_or_else(|| "it names no agent".to_owned())?;
        let mut wrong: Option<String> = None;
        for _ in 0..=REPAIRS_MAX {
            let prompt = match &wrong {
                None => text.clone(),
                Some(wrong) => format!("{text}\n\nAn earlier answer was not accepted: {wrong}"),
            };
            let mut input = json!({ "prompt": prompt });
            if let Some(expected) = &expected {
                input["output"] = expected.schema.clone();
            }
            let output = self.run_agent_as_child(step_name, &agent, input).await?;
            match self.answer_step(state, &attempt_inputs_from_agent_output(output, expected.is_some())) {
                Ok(moved) => return Ok(moved),
                Err(stuck) => wrong = Some(format_blocked_walk(&stuck)),
            }
        }
        let wrong = wrong.unwrap_or_default();
        Err(format!("agent {agent:?} gave no answer that it takes: {wrong}"))
    }

    /// One run of the agent, to its end.
    async fn run_agent_as_child(&self, step_name: &str, agent: &str, input: Value) -> Result<Value, String> {
        let started = self.stage.start_child_run_with_key(step_name, agent, input).await;
        let (op, run) = started.map_err(|error| error.to_string())?;
        let outcome = self.stage.wait_for_child_outcome(&op).await;
        if outcome.state == StateName::Completed {
            return Ok(outcome.output);
        }
        let why = outcome.message.map(|message| format!(": {message}")).unwrap_or_default();
        Err(format!("agent {agent:?} {} as {run}{why}", outcome.state))
    }
}

/// The agent's output, in the form in which an outside agent would send it. A plain text is the step's notes.
fn attempt_inputs_from_agent_output(output: Value, is_structured: bool) -> AttemptInputs {
    if is_structured {
        return AttemptInputs { output: Some(output), ..AttemptInputs::default() };
    }
    let said = output.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    AttemptInputs { output: Some(Value::String(said.clone())), notes: Some(said), ..AttemptInputs::default() }
}
