//! Tools: actions that a workflow definition or an agent can call.

use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::Value;
use trackway_domain::{Artifact, Caller, Failure, Part, SessionId, ValidationError, normalize_integers};
use trackway_engine::SchemaChecker;

use crate::{SchemaCache, SessionHistory, Stage, StepAttempt};

pub type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolOutput, Failure>> + Send>>;

/// An action with a name. Its call is a recorded step: a recorded outcome is never requested again. A crash
/// in between repeats the call with the same idempotency key, if it can be repeated.
pub trait Tool: Send + Sync + fmt::Debug {
    fn info(&self) -> &ToolInfo;
    /// Whether a call may be made again when its outcome is unknown. If not, an agent is informed.
    fn is_repeatable(&self) -> bool {
        true
    }
    /// What is wrong with arguments that satisfy the schema but cannot be read into the tool's type. The tool
    /// is not called with such arguments.
    fn check_arguments(&self, arguments: &Value) -> Vec<ValidationError> {
        let _ = arguments;
        Vec::new()
    }
    /// `arguments` fit the input schema, and integral numbers are integers.
    fn call(&self, arguments: Value, call: ToolCallContext) -> ToolFuture;
}

/// One call of a tool: its caller, and what it may do in addition to its work.
#[derive(Debug, Clone)]
pub struct ToolCallContext {
    pub attempt: StepAttempt,
    pub caller: Caller,
    pub session: SessionId,
    /// None if no run is behind the call, so that it cannot ask or emit anything.
    stage: Option<Stage>,
}

/// The result of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// The value that a definition continues with.
    pub value: Value,
    /// The parts that a model sees; the value if there are none.
    pub parts: Vec<Part>,
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self { value, parts: Vec::new() }
    }
}

impl ToolCallContext {
    /// A call from within a step of that stage.
    pub fn from_step(stage: &Stage, attempt: StepAttempt) -> Self {
        let (caller, session) = (stage.caller().clone(), stage.session_id().clone());
        Self { attempt, caller, session, stage: Some(stage.clone()) }
    }

    /// A call with no run behind it.
    pub fn without_run(attempt: StepAttempt, caller: Caller, session: SessionId) -> Self {
        Self { attempt, caller, session, stage: None }
    }

    /// Asks the user. The tool continues only with an answer that fits the schema.
    pub async fn ask_question(&self, prompt: Vec<Part>, schema: Value) -> Result<Value, Failure> {
        let stage = self.stage.as_ref().ok_or_else(|| Failure::new("there is no user to ask"))?;
        Ok(stage.ask_question_from_step(&self.attempt.op, prompt, schema).await.input)
    }

    /// Emits an artifact in the run that makes the call.
    pub async fn emit_artifact(&self, artifact: Artifact) -> Result<(), Failure> {
        let stage = self.stage.as_ref().ok_or_else(|| Failure::new("there is no run to emit it in"))?;
        stage.emit_artifact_from_step(&self.attempt.op, artifact.into()).await;
        Ok(())
    }

    /// The logs of the session, if there is one.
    pub fn session_history(&self) -> Option<SessionHistory> {
        self.stage.as_ref()?.session_history()
    }
}

/// The public description of a tool.
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
    /// Adds a tool. Returns the previous one of the same name.
    pub fn add_tool(&mut self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        self.tools.insert(tool.info().name.clone(), tool)
    }

    pub fn find_tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    pub fn list_tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// One call from within a step of that stage. The arguments are checked here, so that a recorded outcome
    /// stays valid when a later version of the tool takes other arguments.
    pub(crate) async fn call_tool(
        &self,
        stage: &Stage,
        name: &str,
        mut arguments: Value,
        attempt: StepAttempt,
    ) -> Result<Value, Failure> {
        let Some(tool) = self.find_tool(name) else {
            // Another process may have it: the run is parked and continues there.
            let message = format!("the tool {name:?} is not known here");
            stage.park_as_nondeterministic(&attempt.op.to_string(), message).await
        };
        let problems = self.schemas.parse_tool_arguments(&**tool, &mut arguments);
        if !problems.is_empty() {
            let each: Vec<String> = problems.iter().map(ValidationError::format_validation_error).collect();
            let message = format!("its arguments do not fit: {}", each.join("; "));
            return Err(Failure::new(message));
        }
        let output = tool.call(arguments, ToolCallContext::from_step(stage, attempt)).await?;
        Ok(output.value)
    }
}

impl SchemaCache {
    /// Converts the arguments of a call to what the tool takes: integral numbers become integers. Returns
    /// what is wrong with them, by the tool's schema and then by its type; empty if they fit.
    pub fn parse_tool_arguments(&self, tool: &dyn Tool, arguments: &mut Value) -> Vec<ValidationError> {
        normalize_integers(arguments);
        let problems = self.check_against_schema(&tool.info().input_schema, arguments);
        if problems.is_empty() { tool.check_arguments(arguments) } else { problems }
    }
}
