//! `approve`: a question before anything else. The smallest workflow whose first answer is a question.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackway::{Ctx, Stop, Workflow, reject};

#[derive(Debug, Clone)]
pub struct ApproveWorkflow;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What is to be approved.
    pub subject: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Approval {
    /// Whether it is approved.
    pub approved: bool,
}

impl Workflow for ApproveWorkflow {
    const NAME: &'static str = "approve";
    const DESCRIPTION: &'static str = "Asks a person to approve a subject, before anything else.";
    const TAGS: &'static [&'static str] = &["demo", "approval"];
    const EXAMPLES: &'static [&'static str] = &["Get approval for the new supplier"];
    type Input = Input;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Input) -> Result<(), Stop> {
        let answer: Approval = ctx.ask(format!("Do you approve of {}?", input.subject)).await;
        if !answer.approved {
            reject("It was not approved")?;
        }
        Ok(())
    }
}
