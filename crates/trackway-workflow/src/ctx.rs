//! The context: everything that a workflow can yield, ask and do.

use std::{
    future::{Future, IntoFuture},
    time::Duration,
};

use futures_util::future::{self, Either};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use trackway_domain::{ArtifactChunk, InterruptReason, IntoParts, Message, RunId, Timestamp};
use trackway_runtime::{Stage, StepAttempt};

use crate::{
    AgentFailed, Ask, Child, Step, Stop, Workflow, child::AgentPrompt, typed_program::json_schema_of,
};

/// A workflow's handle to its run. No method takes or returns a task state: only the runtime moves a run
/// from one state to the next.
#[derive(Debug, Clone)]
pub struct Ctx {
    stage: Stage,
}

impl Ctx {
    pub(crate) fn new(stage: Stage) -> Self {
        Self { stage }
    }

    /// This run. On the A2A door it is the task id.
    pub fn run_id(&self) -> RunId {
        self.stage.run_id()
    }

    /// The message that requested this run: its id, all its parts, its metadata. `None` on doors without
    /// messages and for a child.
    pub fn message(&self) -> Option<&Message> {
        self.stage.start_message()
    }

    /// Reports progress: text, or parts that are kept unchanged. The run stays in its state.
    pub async fn status(&self, message: impl IntoParts) {
        self.stage.report_status(message.into_message_parts()).await;
    }

    /// Yields an artifact, complete or one piece of an artifact that grows.
    pub async fn artifact(&self, artifact: impl Into<ArtifactChunk>) {
        self.stage.emit_artifact(artifact.into()).await;
    }

    /// Answers the caller that dispatched this run and waits for its first answer, in most cases an agent.
    /// Without this call, the first answer is the first visible output of the run. A second call is
    /// recorded, but not delivered. People who watch the run do not see it.
    pub async fn dispatch_response(&self, parts: impl IntoParts) {
        self.stage.send_first_answer_to_parent(parts.into_message_parts()).await;
    }

    /// Asks for input and waits for an answer of type `T`, which may take days: the workflow uses no
    /// resources meanwhile. Answers that do not satisfy `T`'s schema are refused with the reasons, and the
    /// question stays open.
    ///
    /// ```ignore
    /// let form: Form = ctx.ask("How much?").artifact(preview).await;
    /// ```
    pub fn ask<T: DeserializeOwned + JsonSchema>(&self, message: impl IntoParts) -> Ask<T> {
        Ask::new(self.stage.clone(), InterruptReason::InputRequired, message.into_message_parts())
    }

    /// Like [`Ctx::ask`], for a permission: a signature, a login, a consent.
    pub fn authorize<T: DeserializeOwned + JsonSchema>(&self, message: impl IntoParts) -> Ask<T> {
        Ask::new(self.stage.clone(), InterruptReason::AuthRequired, message.into_message_parts())
    }

    /// Executes a side effect once: the outcome is recorded, and replays return it and do not execute it
    /// again. A crash between the work and its record repeats the work with the same
    /// [`StepAttempt::idempotency_key`].
    ///
    /// ```ignore
    /// let id: String = ctx.step("charge", |attempt| charge(attempt.idempotency_key)).await?;
    /// ```
    pub fn step<'a, T, E, F, Fut>(&self, key: &str, work: F) -> Step<'a, T>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: FnMut(StepAttempt) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, E>> + Send + 'a,
    {
        Step::new(self.stage.clone(), key, work)
    }

    /// Calls a tool of the server by its name, as a step with that name as its key: the outcome is
    /// recorded, and replays return it and do not call again. Arguments that the tool does not accept fail
    /// the step. If the server has no such tool the run is parked, and continues when the server has it.
    ///
    /// ```ignore
    /// let sum: i64 = ctx.tool("sum", &json!({ "a": 1, "b": 2 })).await?;
    /// ```
    pub fn tool<T: DeserializeOwned>(&self, name: &str, arguments: &impl Serialize) -> Step<'static, T> {
        Step::call_tool(self.stage.clone(), name, arguments)
    }

    /// Sleeps durably: time also passes while no process is running.
    pub async fn sleep(&self, span: Duration) {
        self.stage.sleep_durably(span).await;
    }

    /// The current time, recorded: every replay sees the same.
    pub async fn now(&self) -> Timestamp {
        self.stage.recorded_now().await
    }

    /// A random number, recorded: every replay sees the same.
    pub async fn random(&self) -> u64 {
        self.stage.recorded_random().await
    }

    /// Starts a child run of workflow `W` in the same session. Returns when the start is recorded;
    /// [`Child::outcome`] waits for its end. Cancelling this run cancels the child.
    pub async fn child<W: Workflow>(&self, input: &W::Input) -> Result<Child<W::Output>, Stop>
    where
        W::Input: Serialize,
    {
        self.child_named(W::NAME, serde_json::to_value(input)?).await
    }

    /// Like [`Ctx::child`], for a workflow that is chosen by its name.
    pub async fn child_named<T>(&self, name: &str, input: Value) -> Result<Child<T>, Stop> {
        let (op, run) = self.stage.start_child_run(name, input).await?;
        Ok(Child::new(self.stage.clone(), op, run))
    }

    /// Lets an agent of the server work on this prompt, as a child run, and waits for its answer.
    ///
    /// ```ignore
    /// let summary = ctx.agent("editor", format!("Sum this up: {text}")).await?;
    /// ```
    pub async fn agent(&self, name: &str, prompt: impl Into<String>) -> Result<String, AgentFailed> {
        AgentPrompt::new(name, prompt.into()).ask_agent_for_text(&self.stage).await
    }

    /// Like [`Ctx::agent`], for an agent whose output is a `T`: the agent gets the schema, and corrects an
    /// answer that does not fit.
    pub async fn agent_as<T: DeserializeOwned + JsonSchema>(
        &self,
        name: &str,
        prompt: impl Into<String>,
    ) -> Result<T, AgentFailed> {
        AgentPrompt::new(name, prompt.into()).ask_agent_for_output(&self.stage, json_schema_of::<T>()).await
    }

    /// Waits for both.
    pub async fn join<A: IntoFuture, B: IntoFuture>(&self, a: A, b: B) -> (A::Output, B::Output) {
        future::join(a.into_future(), b.into_future()).await
    }

    /// Waits for all of them; results are in the order of the arguments.
    pub async fn join_all<F: IntoFuture>(&self, all: impl IntoIterator<Item = F>) -> Vec<F::Output> {
        future::join_all(all.into_iter().map(IntoFuture::into_future)).await
    }

    /// Waits for the first of the two and drops the other: a dropped question is withdrawn. If both are
    /// ready, `a` wins, on every replay.
    pub async fn select<A, B>(&self, a: A, b: B) -> Either<A::Output, B::Output>
    where
        A: IntoFuture,
        B: IntoFuture,
    {
        let (a, b) = (std::pin::pin!(a.into_future()), std::pin::pin!(b.into_future()));
        match future::select(a, b).await {
            Either::Left((output, _)) => Either::Left(output),
            Either::Right((output, _)) => Either::Right(output),
        }
    }
}
