//! `review`: three analyses, then a person confirms or the run is rejected mid-way.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{Artifact, Ctx, Stop, Workflow, reject};

#[derive(Debug, Clone)]
pub struct ReviewWorkflow;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What is reviewed.
    pub subject: String,
    /// Pause between the confirmation and the end, in milliseconds.
    pub delay_ms: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Confirmation {
    /// Whether to go on.
    pub confirmed: bool,
}

impl Workflow for ReviewWorkflow {
    const NAME: &'static str = "review";
    const DESCRIPTION: &'static str = "Analyses a subject and asks a person to confirm the recommendation.";
    const TAGS: &'static [&'static str] = &["demo", "approval"];
    const EXAMPLES: &'static [&'static str] = &["Review the new supplier"];
    type Input = Input;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Input) -> Result<(), Stop> {
        let subject = &input.subject;
        let risk = json!({ "subject": subject, "risk": "low" });
        let opportunity = json!({ "subject": subject, "opportunity": "worth a try" });
        let recommendation = json!({ "subject": subject, "recommendation": "go on" });
        ctx.artifact(Artifact::data("risk.json", risk)?.named("Risk analysis")).await;
        ctx.artifact(Artifact::data("opportunity.json", opportunity)?.named("Opportunity analysis")).await;
        ctx.artifact(Artifact::data("recommendation.json", recommendation)?.named("Recommendation")).await;

        let answer: Confirmation = ctx.ask("Review the analysis and confirm execution").await;
        if !answer.confirmed {
            reject("The reviewer did not confirm")?;
        }
        if let Some(delay) = input.delay_ms.filter(|delay| *delay > 0) {
            ctx.sleep(Duration::from_millis(delay)).await;
        }
        Ok(())
    }
}
