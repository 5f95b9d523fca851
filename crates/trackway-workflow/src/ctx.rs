//! The context: everything a workflow can say, ask and do.

use std::{
    future::{Future, IntoFuture},
    time::Duration,
};

use futures_util::future::{self, Either};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use trackway_domain::{ArtifactChunk, IntoParts, Message, Reason, RunId, Timestamp};
use trackway_runtime::{Attempt, Stage};

use crate::{AgentFailed, Ask, Child, Step, Stop, Workflow, child::Consultation, typed::schema_of};

/// A workflow's handle on its run. No verb takes or returns a task state: the runtime alone moves a
/// run from one state to the next.
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
        self.stage.run()
    }

    /// The message that asked for this run: its id, all its parts, its metadata. None on doors without
    /// messages and for a child.
    pub fn message(&self) -> Option<&Message> {
        self.stage.message()
    }

    /// Tells progress: text, or parts kept as given. The run stays in its state.
    pub async fn status(&self, message: impl IntoParts) {
        self.stage.status(message.into_content()).await;
    }

    /// Yields an artifact, whole or a piece of a growing one.
    pub async fn artifact(&self, artifact: impl Into<ArtifactChunk>) {
        self.stage.artifact(artifact.into()).await;
    }

    /// Answers whoever dispatched this run and waits for its first answer, an agent in most cases. Without
    /// it the first answer is whatever the run shows first; a second one is recorded and told to nobody.
    /// People who watch the run see nothing of it.
    pub async fn dispatch_response(&self, parts: impl IntoParts) {
        self.stage.first_answer(parts.into_content()).await;
    }

    /// Asks for input and waits for an answer of type `T`, which may take days: the workflow costs
    /// nothing meanwhile. Answers that do not satisfy `T`'s schema are refused with the reasons, and
    /// the question stays open.
    ///
    /// ```ignore
    /// let form: Form = ctx.ask("How much?").artifact(preview).await;
    /// ```
    pub fn ask<T: DeserializeOwned + JsonSchema>(&self, message: impl IntoParts) -> Ask<T> {
        Ask::new(self.stage.clone(), Reason::InputRequired, message.into_content())
    }

    /// As [`Ctx::ask`], where what is asked for is permission: a signature, a login, a consent.
    pub fn authorize<T: DeserializeOwned + JsonSchema>(&self, message: impl IntoParts) -> Ask<T> {
        Ask::new(self.stage.clone(), Reason::AuthRequired, message.into_content())
    }

    /// Does something to the world once: the outcome is recorded, and replays return it instead of
    /// doing it again. A crash between the work and its record repeats the work with the same
    /// [`Attempt::idempotency_key`].
    ///
    /// ```ignore
    /// let id: String = ctx.step("charge", |attempt| charge(attempt.idempotency_key)).await?;
    /// ```
    pub fn step<'a, T, E, F, Fut>(&self, key: &str, work: F) -> Step<'a, T>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: FnMut(Attempt) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, E>> + Send + 'a,
    {
        Step::new(self.stage.clone(), key, work)
    }

    /// Calls a tool of the server by its name, as a step with that name as its key: what it came to is
    /// recorded, and replays return it instead of calling again. Arguments that the tool does not take
    /// fail the step. Where the server has no such tool the run is parked, and goes on when it has.
    ///
    /// ```ignore
    /// let sum: i64 = ctx.tool("sum", &json!({ "a": 1, "b": 2 })).await?;
    /// ```
    pub fn tool<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: &impl Serialize,
    ) -> Step<'static, T> {
        Step::tool(self.stage.clone(), name, arguments)
    }

    /// Sleeps, durably: the time passes also while no process runs.
    pub async fn sleep(&self, span: Duration) {
        self.stage.sleep(span).await;
    }

    /// The moment, recorded: every replay sees the same.
    pub async fn now(&self) -> Timestamp {
        self.stage.now().await
    }

    /// A random number, recorded: every replay sees the same.
    pub async fn random(&self) -> u64 {
        self.stage.random().await
    }

    /// Starts a child run of workflow `W` in the same session. Returns when the start is recorded;
    /// [`Child::outcome`] waits for its end. Cancelling this run cancels it.
    pub async fn child<W: Workflow>(&self, input: &W::Input) -> Result<Child<W::Output>, Stop>
    where
        W::Input: Serialize,
    {
        self.child_named(W::NAME, serde_json::to_value(input)?).await
    }

    /// As [`Ctx::child`], for a workflow that is chosen by its name.
    pub async fn child_named<T>(&self, name: &str, input: Value) -> Result<Child<T>, Stop> {
        let (op, run) = self.stage.start_child(name, input).await?;
        Ok(Child::new(self.stage.clone(), op, run))
    }

    /// Has an agent of the server work on this prompt, as a child run, and waits for what it says.
    ///
    /// ```ignore
    /// let summary = ctx.agent("editor", format!("Sum this up: {text}")).await?;
    /// ```
    pub async fn agent(
        &self,
        name: &str,
        prompt: impl Into<String>,
    ) -> Result<String, AgentFailed> {
        Consultation::new(name, prompt.into()).text(&self.stage).await
    }

    /// As [`Ctx::agent`], where the agent's output is a `T`: it is given the schema, and mends an answer
    /// that does not fit.
    pub async fn agent_as<T: DeserializeOwned + JsonSchema>(
        &self,
        name: &str,
        prompt: impl Into<String>,
    ) -> Result<T, AgentFailed> {
        Consultation::new(name, prompt.into()).output(&self.stage, schema_of::<T>()).await
    }

    /// Waits for both.
    pub async fn join<A: IntoFuture, B: IntoFuture>(&self, a: A, b: B) -> (A::Output, B::Output) {
        future::join(a.into_future(), b.into_future()).await
    }

    /// Waits for all of them; results in the order given.
    pub async fn join_all<F: IntoFuture>(
        &self,
        all: impl IntoIterator<Item = F>,
    ) -> Vec<F::Output> {
        future::join_all(all.into_iter().map(IntoFuture::into_future)).await
    }

    /// Waits for the first of the two and drops the other: a question that is dropped is withdrawn.
    /// Where both are there, `a` wins, on every replay.
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
