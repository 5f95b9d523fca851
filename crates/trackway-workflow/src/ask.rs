//! Questions: typed, with their schema derived from the answer's type.

use std::{fmt, future::IntoFuture, marker::PhantomData, pin::Pin};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use trackway_domain::{Artifact, InterruptReason, Message, Part};
use trackway_runtime::{Stage, ValueType};

use crate::typed_program::json_schema_of;

/// A question that is asked when it is awaited.
#[must_use = "a question is put when it is awaited"]
pub struct Ask<T> {
    stage: Stage,
    reason: InterruptReason,
    prompt: Vec<Part>,
    artifact: Option<Artifact>,
    answer: PhantomData<fn() -> T>,
}

impl<T> Ask<T> {
    pub(crate) fn new(stage: Stage, reason: InterruptReason, prompt: Vec<Part>) -> Self {
        Self { stage, reason, prompt, artifact: None, answer: PhantomData }
    }

    /// Publishes this artifact first: a preview, a form with values filled in.
    pub fn artifact(mut self, artifact: Artifact) -> Self {
        self.artifact = Some(artifact);
        self
    }
}

impl<T> fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("reason", &self.reason).finish_non_exhaustive()
    }
}

/// The future of a question; it resolves to `T`.
type AskFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Ask<T> {
    /// Asks the question and returns the answer together with its message: the id, all parts and the
    /// metadata.
    ///
    /// ```ignore
    /// let (form, message): (Form, Message) = ctx.ask("How much?").with_message().await;
    /// ```
    pub fn with_message(self) -> AskFuture<(T, Message)> {
        let Self { stage, reason, prompt, artifact, .. } = self;
        Box::pin(async move {
            let answer_type = ValueType::for_type::<T>();
            let schema = json_schema_of::<T>();
            let (op, answer) = stage.ask_typed_question(reason, prompt, schema, artifact, answer_type).await;
            // The answer was parsed into the type before it was delivered; only a type that parses the
            // same value in two ways gets here.
            let error = match serde_json::from_value(answer.input) {
                Ok(input) => return (input, answer.message),
                Err(error) => error,
            };
            let message = format!("the recorded answer does not have the type it is read as: {error}");
            stage.park_as_nondeterministic(&op.to_string(), message).await
        })
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> IntoFuture for Ask<T> {
    type Output = T;
    type IntoFuture = AskFuture<T>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.with_message().await.0 })
    }
}
