//! `fails`: returns an error.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use trackway::{Ctx, Stop, Workflow};

#[derive(Debug, Clone)]
pub struct FailingWorkflow;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The error's message.
    pub message: String,
}

impl Workflow for FailingWorkflow {
    const NAME: &'static str = "fails";
    const DESCRIPTION: &'static str = "Fails with the message it is given.";
    const TAGS: &'static [&'static str] = &["demo"];
    type Input = Input;
    type Output = ();

    async fn run(self: Arc<Self>, _ctx: Ctx, input: Input) -> Result<(), Stop> {
        Err(Stop::failed(input.message))
    }
}
