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

use crate::{Ask, Child, Step, Stop, Workflow};

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
