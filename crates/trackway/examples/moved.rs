//! A workflow moved from a hand-rolled generator, as `docs/coming-from-a-generator.md` shows it.

use std::{io, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{Artifact, Ctx, Part, Server, ServerError, Stop, Workflow, reject};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    account: String,
    network: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Amount {
    #[schemars(extend("exclusiveMinimum" = 0))]
    amount: f64,
}

struct Moved;

impl Workflow for Moved {
    const NAME: &'static str = "moved";
    const DESCRIPTION: &'static str = "Finds offers, asks how much, pays.";
    type Input = Input;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Input) -> Result<(), Stop> {
        if input.network != "main" {
            reject("wrong network")?;
        }
        ctx.status("Looking for offers").await;
        let offers: Vec<String> = ctx.step("offers", |_| find_offers(&input.account)).await?;
        ctx.status([Part::text("Half way"), Part::data(json!({ "current": 1, "total": 2 }))]).await;

        let form = Artifact::data("form.json", json!({ "offers": offers }))?;
        let Amount { amount } = ctx.ask("How much?").artifact(form).await;

        let receipt: String =
            ctx.step("pay", |attempt| pay(&input.account, amount, attempt.idempotency_key)).await?;
        ctx.artifact(Artifact::data("receipt.json", json!({ "receipt": receipt }))?).await;
        Ok(())
    }
}

async fn find_offers(account: &str) -> Result<Vec<String>, io::Error> {
    Ok(vec![format!("an offer for {account}")])
}

async fn pay(account: &str, amount: f64, key: String) -> Result<String, io::Error> {
    Ok(format!("{account} paid {amount} under {key}"))
}

#[tokio::main]
async fn main() -> Result<(), ServerError> {
    Server::new().workflow(Moved).data("trackway-data/moved").listen("127.0.0.1:7426").serve().await
}
