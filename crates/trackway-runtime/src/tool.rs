//! Tools: actions that a workflow definition or an agent can call.

mod arguments_schema;
mod tool_source;

use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::Value;
use trackway_domain::{
    Artifact, CallChain, Caller, Failure, InterruptReason, Part, RunId, SessionId, StepNoteRefusal,
    ValidationError, normalize_integers,
};
use trackway_engine::SchemaChecker;

use crate::{Answer, SchemaCache, SessionHistory, Stage, StepAttempt};

pub use arguments_schema::ArgumentsSchema;
pub use tool_source::{ToolSource, ToolSourceSnapshot, UnavailableTool};

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
    /// Whether the tool checks its arguments itself, since it accepts less than its schema for the model says
    /// and reports what is wrong in its result. It is then called with any arguments.
    fn checks_own_arguments(&self) -> bool {
        false
    }
    /// `arguments` fit the input schema, unless the tool checks them itself. Integral numbers are integers.
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
    /// The call failed, and the value says why. A failure without a value is a [`Failure`].
    pub is_error: bool,
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self { value, parts: Vec::new(), is_error: false }
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

    /// As [`ToolCallContext::ask_question`], for that reason: input, or permission. Returns the whole answer.
    pub async fn ask_question_with_reason(
        &self,
        reason: InterruptReason,
        prompt: Vec<Part>,
        schema: Value,
    ) -> Result<Answer, Failure> {
        let stage = self.stage.as_ref().ok_or_else(|| Failure::new("there is no user to ask"))?;
        Ok(stage.ask_question_from_step_with_reason(&self.attempt.op, reason, prompt, schema).await)
    }

    /// Reports progress in the run that makes the call. A call with no run behind it has no watchers.
    pub async fn report_status(&self, parts: Vec<Part>) {
        if let Some(stage) = &self.stage {
            stage.report_status_from_step(&self.attempt.op, parts).await;
        }
    }

    /// Keeps a durable note until the call has an outcome: see [`Stage::record_note`].
    pub async fn record_note(&self, note: Value) -> Result<(), StepNoteRefusal> {
        let stage = self.stage.as_ref().ok_or(StepNoteRefusal::NoRun)?;
        stage.record_note(&self.attempt.op, note).await
    }

    /// Gives up what the call began elsewhere, so that it is released: see [`Stage::release_note`].
    pub async fn release_note(&self, note: Value) -> Result<(), StepNoteRefusal> {
        let stage = self.stage.as_ref().ok_or(StepNoteRefusal::NoRun)?;
        stage.release_note(&self.attempt.op, note).await
    }

    /// The newest note of this call, also one of an earlier attempt or an earlier process.
    pub fn load_note(&self) -> Option<Value> {
        self.stage.as_ref()?.load_note(&self.attempt.op)
    }

    /// The run that makes the call.
    pub fn run_id(&self) -> Option<RunId> {
        self.stage.as_ref().map(Stage::run_id)
    }

    /// The name of the workflow or the agent that makes the call.
    pub fn workflow_name(&self) -> Option<&str> {
        self.stage.as_ref().map(|stage| stage.workflow().name.as_str())
    }

    /// The calls of peers that led to this call.
    pub fn call_chain(&self) -> CallChain {
        self.stage.as_ref().map(|stage| stage.call_chain().clone()).unwrap_or_default()
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
    pub origin: ToolOrigin,
}

/// Where the work of a tool is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum ToolOrigin {
    /// In this process, or at a tool server of its own.
    #[default]
    Local,
    /// By the agent of a peer.
    PeerAgent { peer: String },
    /// By the workflow of a peer.
    PeerWorkflow { peer: String },
}

impl ToolOrigin {
    /// The peer that does the work, if one does.
    pub fn peer_name(&self) -> Option<&str> {
        match self {
            Self::Local => None,
            Self::PeerAgent { peer } | Self::PeerWorkflow { peer } => Some(peer),
        }
    }
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
        if output.is_error {
            return Err(Failure::new(output.value.to_string()));
        }
        Ok(output.value)
    }
}

impl SchemaCache {
    /// Converts the arguments of a call to what the tool takes: integral numbers become integers. Returns
    /// what is wrong with them, by the tool's schema and then by its type; empty if they fit.
    pub fn parse_tool_arguments(&self, tool: &dyn Tool, arguments: &mut Value) -> Vec<ValidationError> {
        normalize_integers(arguments);
        if tool.checks_own_arguments() {
            return tool.check_arguments(arguments);
        }
        let problems = self.check_against_schema(&tool.info().input_schema, arguments);
        if problems.is_empty() { tool.check_arguments(arguments) } else { problems }
    }
}
