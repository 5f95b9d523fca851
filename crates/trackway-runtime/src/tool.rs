//! Tools: what a written workflow or an agent can have done.

use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::Value;
use trackway_domain::{Artifact, Caller, Failure, Part, SessionId, ValidationError, normalize_integers};
use trackway_engine::SchemaChecker;

use crate::{SchemaCache, SessionHistory, Stage, StepAttempt};

pub type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolOutput, Failure>> + Send>>;

/// Something that can be done by name. Its call is a recorded step: what it came to is never asked for
/// again, and a crash in between repeats it with the same idempotency key, where it can be repeated.
pub trait Tool: Send + Sync + fmt::Debug {
    fn info(&self) -> &ToolInfo;
    /// Whether a call may be made again when it is not known what came of it. An agent is told so where
    /// it may not.
    fn is_repeatable(&self) -> bool {
        true
    }
    /// What is wrong with arguments that satisfy the schema: where the tool cannot read them into its
    /// type. It is not called with such.
    fn check_arguments(&self, arguments: &Value) -> Vec<ValidationError> {
        let _ = arguments;
        Vec::new()
    }
    /// `arguments` fit the input schema, and integral numbers are integers.
    fn call(&self, arguments: Value, call: ToolCall) -> ToolFuture;
}

/// One call of a tool: on whose behalf, and what it may do beside its work.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub attempt: StepAttempt,
    pub caller: Caller,
    pub session: SessionId,
    /// None where nobody stands behind it who could be asked or shown anything.
    stage: Option<Stage>,
}

/// What a tool gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// What a definition goes on with.
    pub value: Value,
    /// What a model is shown; the value where there are none.
    pub parts: Vec<Part>,
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self { value, parts: Vec::new() }
    }
}

impl ToolCall {
    /// A call from within a step of that stage.
    pub fn from_step(stage: &Stage, attempt: StepAttempt) -> Self {
        let (caller, session) = (stage.caller().clone(), stage.session().clone());
        Self { attempt, caller, session, stage: Some(stage.clone()) }
    }

    /// A call with no run behind it.
    pub fn without_run(attempt: StepAttempt, caller: Caller, session: SessionId) -> Self {
        Self { attempt, caller, session, stage: None }
    }

    /// Asks the user. The tool goes on only with an answer that fits the schema.
    pub async fn ask(&self, prompt: Vec<Part>, schema: Value) -> Result<Value, Failure> {
        let stage = self.stage.as_ref().ok_or_else(|| Failure::new("nobody can be asked"))?;
        Ok(stage.ask_from_step(&self.attempt.op, prompt, schema).await.input)
    }

    /// Shows an artifact of the run that calls.
    pub async fn emit_artifact(&self, artifact: Artifact) -> Result<(), Failure> {
        let stage = self.stage.as_ref().ok_or_else(|| Failure::new("no run shows it"))?;
        stage.emit_artifact_from_step(&self.attempt.op, artifact.into()).await;
        Ok(())
    }

    /// The logs of the session, where there is one.
    pub fn session_history(&self) -> Option<SessionHistory> {
        self.stage.as_ref()?.session_history()
    }
}

/// What everybody may know of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
}

/// The tools of a server, by name.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    schemas: Arc<SchemaCache>,
}

impl Tools {
    /// Adds a tool. The one of the same name that was there before is given back.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        self.tools.insert(tool.info().name.clone(), tool)
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    pub fn list(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// One call from within a step of that stage. The arguments are checked here, so that what was
    /// recorded stays good when a later version of the tool takes others.
    pub(crate) async fn call_tool(
        &self,
        stage: &Stage,
        name: &str,
        mut arguments: Value,
        attempt: StepAttempt,
    ) -> Result<Value, Failure> {
        let Some(tool) = self.get(name) else {
            // Another process may have it: the run is parked, and goes on there.
            let message = format!("the tool {name:?} is not known here");
            stage.park_as_nondeterministic(&attempt.op.to_string(), message).await
        };
        let problems = self.schemas.parse_arguments(&**tool, &mut arguments);
        if !problems.is_empty() {
            let each: Vec<String> = problems.iter().map(ValidationError::to_sentence).collect();
            let message = format!("its arguments do not fit: {}", each.join("; "));
            return Err(Failure::new(message));
        }
        let output = tool.call(arguments, ToolCall::from_step(stage, attempt)).await?;
        Ok(output.value)
    }
}

impl SchemaCache {
    /// Makes the arguments of a call what the tool takes: integral numbers become integers. What is wrong
    /// with them, by the tool's schema and then by its type; nothing where they fit.
    pub fn parse_arguments(&self, tool: &dyn Tool, arguments: &mut Value) -> Vec<ValidationError> {
        normalize_integers(arguments);
        let problems = self.check(&tool.info().input_schema, arguments);
        if problems.is_empty() { tool.check_arguments(arguments) } else { problems }
    }
}
