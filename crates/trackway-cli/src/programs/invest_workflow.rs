//! `invest`: the whole lifecycle. An early reject, progress with data, a form, a signature, a step.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{Artifact, Ctx, Part, Stop, Workflow, reject};

/// Arbitrum, the only network this example knows.
const CHAIN_ID: u64 = 42_161;

#[derive(Debug, Clone)]
pub struct InvestWorkflow;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The wallet to invest from.
    pub wallet_address: String,
    /// The wallet's network; Arbitrum (42161) where absent.
    pub chain_id: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Form {
    /// The wallet that pays.
    pub wallet_address: String,
    /// How much to invest.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub amount: f64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Signed {
    /// The wallet's signature.
    pub signature: String,
}

impl Workflow for InvestWorkflow {
    const NAME: &'static str = "invest";
    const DESCRIPTION: &'static str =
        "Finds an opportunity, asks how much to invest and for a signature, and hands out a receipt.";
    const TAGS: &'static [&'static str] = &["demo", "form", "signature"];
    const EXAMPLES: &'static [&'static str] = &["Invest from wallet 0x123"];
    type Input = Input;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, input: Input) -> Result<(), Stop> {
        if input.chain_id.is_some_and(|chain| chain != CHAIN_ID) {
            reject("Wallet address is not on Arbitrum network (chain ID 42161)")?;
        }
        let opportunities = json!({ "opportunities": [
            { "protocol": "Aave", "apy": 5.2 },
            { "protocol": "Compound", "apy": 4.8 },
            { "protocol": "Yearn", "apy": 6.1 },
        ] });
        ctx.status([Part::text("Found 3 yield opportunities:"), Part::data(opportunities)]).await;

        let preview = json!({
            "prefilledValues": { "walletAddress": input.wallet_address, "amount": 100 },
            "suggestions": [input.wallet_address],
        });
        let form: Form = ctx
            .ask("Please provide your wallet address and amount to invest")
            .artifact(Artifact::data("investment-form-preview.json", preview)?.named("Investment Form"))
            .await;
        let signed: Signed = ctx.authorize(format!("Please sign the investment of {}", form.amount)).await;

        // A real program would send the transaction here, with the key as its nonce.
        let transaction: String = ctx
            .step("invest", |attempt| async move { Ok::<_, std::io::Error>(attempt.idempotency_key) })
            .await?;
        let receipt = json!({
            "walletAddress": form.wallet_address,
            "amount": form.amount,
            "signature": signed.signature,
            "transaction": transaction,
        });
        ctx.artifact(Artifact::data("receipt.json", receipt)?.named("Receipt")).await;
        Ok(())
    }
}
