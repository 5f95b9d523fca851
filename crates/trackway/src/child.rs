//! Child runs.

use std::{fmt, marker::PhantomData};

use serde::de::DeserializeOwned;
use trackway_domain::{ChildOutcome, Op, RunId, StateName};
use trackway_runtime::Stage;

/// A child run that was started.
pub struct Child<T> {
    stage: Stage,
    op: Op,
    run: RunId,
    output: PhantomData<fn() -> T>,
}

/// A child that ended other than by completing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("child {run} {state}{}", .message.as_ref().map(|text| format!(": {text}")).unwrap_or_default())]
pub struct ChildFailed {
    pub run: RunId,
    pub state: StateName,
    pub message: Option<String>,
}

impl<T> Child<T> {
    pub(crate) fn new(stage: Stage, op: Op, run: RunId) -> Self {
        Self { stage, op, run, output: PhantomData }
    }

    pub fn run_id(&self) -> RunId {
        self.run
    }

    /// Waits for its end, however it ends.
    pub async fn outcome(self) -> ChildOutcome {
        self.stage.child_outcome(&self.op).await
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
        stage.misfit(&op, message).await
    }
}

impl<T> fmt::Debug for Child<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&self.run).finish()
    }
}
