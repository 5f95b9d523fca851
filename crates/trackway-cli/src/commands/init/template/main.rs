//! A workflow of your own, served together with the agents of this folder, which may dispatch it.

use std::{env, io, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackway::{Artifact, Ctx, Server, Stop, Workflow, reject};

struct Purchase;

/// What the workflow is started with. Its JSON Schema is derived: wrong input never starts a run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// What to buy.
    item: String,
    /// How many.
    #[schemars(range(min = 1))]
    count: u32,
}

/// What a person is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Approval {
    /// Whether to buy.
    approved: bool,
}

/// What a person signs with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Signature {
    /// Your signature.
    signature: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Receipt {
    order_number: String,
    signed_by: String,
}

impl Workflow for Purchase {
    const NAME: &'static str = "purchase";
    const DESCRIPTION: &'static str = "Buys something once a person has approved and signed.";
    type Input = Order;
    type Output = Receipt;

    async fn run(self: Arc<Self>, ctx: Ctx, order: Order) -> Result<Receipt, Stop> {
        // Reject: the workflow declines. Nothing after it runs.
        if order.item == "nothing" {
            reject("there is nothing to buy")?;
        }

        // Status: progress that a person or a model can read.
        ctx.status(format!("Looking for {} × {}", order.count, order.item)).await;

        // Artifact: something the run hands out.
        let quote = format!("{} × {}: {} coins", order.count, order.item, order.count * 3);
        ctx.artifact(Artifact::text("quote.txt", quote.clone())?.named("Quote")).await;

        // Question: the run waits here, for days if need be, and costs nothing while it waits.
        // The artifact that goes with a question is shown first.
        let approval: Approval =
            ctx.ask("Shall I buy it?").artifact(Artifact::text("order.txt", quote)?).await;
        if !approval.approved {
            reject("not approved")?;
        }
        let signed: Signature = ctx.authorize("Please sign the order").await;

        // Step: what is done to the world is done once, and its outcome is kept.
        let order_number: String = ctx
            .step("buy", |attempt| async move {
                // Give the key to the shop, so that a repeated order is recognised.
                Ok::<_, io::Error>(format!("order-{}", attempt.idempotency_key))
            })
            .await?;

        Ok(Receipt { order_number, signed_by: signed.signature })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listen = env::args().nth(1).unwrap_or("127.0.0.1:7420".to_owned());
    // The workflow from here; agents, tools, workflow files and settings from the files of this folder.
    let server = Server::new().workflow(Purchase).workspace(".")?;
    let server = server.listen(listen).bind().await?;
    println!("Serving at {} until Ctrl-C", server.local_url());
    server.serve_until_interrupted().await?;
    Ok(())
}
