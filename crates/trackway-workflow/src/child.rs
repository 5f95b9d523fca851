//! Child runs, of workflows and of agents.

use std::{fmt, marker::PhantomData};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trackway_domain::{ChildOutcome, Op, RunId, StateName};
use trackway_runtime::{ChildError, Stage};

/// A child run that was started.
pub struct Child<T> {
    stage: Stage,
    op: Op,
    run: RunId,
    output: PhantomData<fn() -> T>,
}

/// A child that ended without completing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("child {run} {state}{}", .message.as_ref().map(|text| format!(": {text}")).unwrap_or_default())]
pub struct ChildFailed {
    pub run: RunId,
    pub state: StateName,
    pub message: Option<String>,
}

/// An agent that did not answer. It is recorded, so replays fail in the same way.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AgentFailed {
    /// There is no such agent, or it is a workflow that accepts no prompt.
    #[error("no agent {name:?} can be asked: {reason}")]
    NotStarted { name: String, reason: String },
    #[error(transparent)]
    Ended(#[from] ChildFailed),
}

impl<T> Child<T> {
    pub(crate) fn new(stage: Stage, op: Op, run: RunId) -> Self {
        Self { stage, op, run, output: PhantomData }
    }

    pub fn run_id(&self) -> RunId {
        self.run
    }

    /// Waits for its end, in any final state.
    pub async fn outcome(self) -> ChildOutcome {
        self.stage.wait_for_child_outcome(&self.op).await
    }

    /// Waits for its output; any other end is an error.
    pub async fn output(self) -> Result<T, ChildFailed>
    where
        T: DeserializeOwned,
    {
        let (stage, op, run) = (self.stage.clone(), self.op.to_string(), self.run);
        let ChildOutcome { state, output, message } = self.outcome().await;
        if state != StateName::Completed {
            return Err(ChildFailed { run, state, message });
        }
        let error = match serde_json::from_value(output) {
            Ok(output) => return Ok(output),
            Err(error) => error,
        };
        let message = format!("the child's output does not have the type it is read as: {error}");
        stage.park_as_nondeterministic(&op, message).await
    }
}

impl<T> fmt::Debug for Child<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&self.run).finish()
    }
}

/// The request to an agent.
pub(crate) struct AgentPrompt<'a> {
    agent: &'a str,
    prompt: String,
}

/// The output of a turn that has no output schema.
#[derive(Deserialize)]
struct AgentTextOutput {
    text: String,
}

impl<'a> AgentPrompt<'a> {
    pub(crate) fn new(agent: &'a str, prompt: String) -> Self {
        Self { agent, prompt }
    }

    pub(crate) async fn ask_agent_for_text(self, stage: &Stage) -> Result<String, AgentFailed> {
        let input = json!({ "prompt": self.prompt });
        let AgentTextOutput { text } = self.run_agent_child(stage, input).await?;
        Ok(text)
    }

    pub(crate) async fn ask_agent_for_output<T: DeserializeOwned>(
        self,
        stage: &Stage,
        schema: Value,
    ) -> Result<T, AgentFailed> {
        let input = json!({ "prompt": self.prompt, "output": schema });
        self.run_agent_child(stage, input).await
    }

    async fn run_agent_child<T: DeserializeOwned>(
        &self,
        stage: &Stage,
        input: Value,
    ) -> Result<T, AgentFailed> {
        let not_started = |error: ChildError| AgentFailed::NotStarted {
            name: self.agent.to_owned(),
            reason: error.to_string(),
        };
        let (op, run) = stage.start_child_run(self.agent, input).await.map_err(not_started)?;
        Ok(Child::new(stage.clone(), op, run).output().await?)
    }
}
