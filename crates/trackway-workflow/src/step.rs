//! Steps: typed, with a retry policy.

use std::{error::Error, fmt, future::IntoFuture, marker::PhantomData, pin::Pin};

use serde::{Serialize, de::DeserializeOwned};
use trackway_domain::{Failure, StepOutcome};
use trackway_runtime::{RetryPolicy, Stage, StepAttempt, StepWork};

use crate::workflow_stop::format_error_chain;

/// A step that is executed when it is awaited.
#[must_use = "a step is done when it is awaited"]
pub struct Step<'a, T> {
    stage: Stage,
    key: String,
    policy: RetryPolicy,
    work: Box<StepWork<'a>>,
    output: PhantomData<fn() -> T>,
}

/// A step that failed permanently, after all its attempts. It is recorded, so replays fail in the
/// same way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StepFailed {
    /// The step's key.
    pub step: String,
    pub message: String,
}

impl<'a, T> Step<'a, T> {
    pub(crate) fn new<E, F, Fut>(stage: Stage, key: &str, mut work: F) -> Self
    where
        T: Serialize,
        E: Into<Box<dyn Error + Send + Sync>>,
        F: FnMut(StepAttempt) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T, E>> + Send + 'a,
    {
        let work: Box<StepWork<'a>> = Box::new(move |attempt| {
            let doing = work(attempt);
            Box::pin(async move {
                let value = doing.await.map_err(|error| Failure::new(format_error_chain(&*error.into())))?;
                serde_json::to_value(value)
                    .map_err(|error| Failure::new(format!("the step's result is not JSON: {error}")))
            })
        });
        let policy = RetryPolicy::default();
        Self { stage, key: key.to_owned(), policy, work, output: PhantomData }
    }

    pub(crate) fn call_tool(stage: Stage, name: &str, arguments: &impl Serialize) -> Self {
        let arguments = serde_json::to_value(arguments)
            .map_err(|error| Failure::new(format!("the arguments of tool {name:?} are not JSON: {error}")));
        let (on, tool) = (stage.clone(), name.to_owned());
        let work: Box<StepWork<'a>> = Box::new(move |attempt| {
            let (stage, tool, arguments) = (on.clone(), tool.clone(), arguments.clone());
            Box::pin(async move { stage.call_tool_in_step(&tool, arguments?, attempt).await })
        });
        let policy = RetryPolicy::default();
        Self { stage, key: name.to_owned(), policy, work, output: PhantomData }
    }

    /// Tries again after a failure. Pauses are durable: a restart does not start them again.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.policy = policy;
        self
    }
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for Step<'a, T> {
    type Output = Result<T, StepFailed>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { stage, key, policy, mut work, .. } = self;
        Box::pin(async move {
            let (op, outcome) = stage.step(&key, policy, &mut *work).await;
            let value = match outcome {
                StepOutcome::Ok(value) => value,
                StepOutcome::Err(Failure { message }) => {
                    return Err(StepFailed { step: key, message });
                }
            };
            let error = match serde_json::from_value(value) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let message = format!("the recorded result does not have the type it is read as: {error}");
            stage.park_as_nondeterministic(&op.to_string(), message).await
        })
    }
}

impl<T> fmt::Debug for Step<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("key", &self.key).field("policy", &self.policy).finish_non_exhaustive()
    }
}
