//! One of each verb: the snippets of the authoring guide, in a program that compiles.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{
    Artifact, Ctx, Either, Part, Server, ServerError, StepAttempt, StepFailed, Stop, Workflow, reject,
};

/// Rules that a type can state about an answer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Form {
    /// The wallet that pays.
    #[schemars(regex(pattern = "^0x[0-9a-f]+$"))]
    wallet_address: String,
    /// How much.
    #[schemars(extend("exclusiveMinimum" = 0))]
    amount: f64,
    /// In how many parts.
    #[schemars(range(min = 1, max = 1_000))]
    parts: u32,
    /// For whom.
    #[schemars(length(min = 1))]
    name: String,
    speed: Speed,
    remark: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Speed {
    Slow,
    Fast,
}

struct Verbs;

impl Workflow for Verbs {
    const NAME: &'static str = "verbs";
    const DESCRIPTION: &'static str = "Uses one of each verb.";
    const TAGS: &'static [&'static str] = &["demo"];
    const EXAMPLES: &'static [&'static str] = &["Show me one of each"];
    type Input = BTreeMap<String, String>;
    type Output = String;

    async fn run(self: Arc<Self>, ctx: Ctx, input: BTreeMap<String, String>) -> Result<String, Stop> {
        ctx.status("Analysing").await;
        ctx.status([Part::text("Found 3 yield opportunities:"), Part::data(json!({ "opportunities": 3 }))])
            .await;

        ctx.artifact(Artifact::text("notes.txt", "whole")?.named("Notes")).await;

        ctx.artifact(Artifact::text("log.txt", "first ")?.begin()).await;
        ctx.artifact(Artifact::text("log.txt", "second ")?.extend()).await;
        ctx.artifact(Artifact::text("log.txt", "third")?.finish()).await;

        let receipt = match ctx.step("charge", charge).await {
            Ok(receipt) => receipt,
            Err(StepFailed { message, .. }) => {
                ctx.status(format!("The card was declined: {message}")).await;
                ctx.step("invoice", invoice).await?
            }
        };

        // Both at once; the second question is asked when the first is answered.
        let (form, again) =
            ctx.join(ctx.ask::<Form>("What shall I do?"), ctx.ask::<String>("And who are you?")).await;
        if form.remark.is_some() {
            reject(format!("Remarks are not read, {again}"))?;
        }

        // A slow service gets a second chance somewhere else.
        let first = ctx.step("first", charge);
        let spare = async {
            ctx.sleep(Duration::from_secs(5)).await;
            ctx.step("spare", invoice).await
        };
        match ctx.select(first, spare).await {
            Either::Left(done) | Either::Right(done) => drop(done?),
        }

        let count = input.len();
        std::str::from_utf8(b"any error fails the run")
            .map_err(|error| Stop::failed(format!("{error:#}")))?;
        Ok(format!("{receipt}, {count} things"))
    }
}

async fn charge(attempt: StepAttempt) -> Result<String, std::io::Error> {
    Ok(format!("charged under {}", attempt.idempotency_key))
}

async fn invoice(_attempt: StepAttempt) -> Result<String, String> {
    Err("no invoices today".into())
}

#[tokio::main]
async fn main() -> Result<(), ServerError> {
    Server::new().workflow(Verbs).data("trackway-data/verbs").listen("127.0.0.1:7425").serve().await
}
