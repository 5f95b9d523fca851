//! An expense that a person approves, signs, and that is then paid once. It uses the four yields, a
//! question with a preview, a time limit for the answer, and a step that is tried again.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{Artifact, Ctx, Either, Part, RetryPolicy, Server, ServerError, Stop, Workflow, reject};

/// How long an approver may take.
const PATIENCE: Duration = Duration::from_secs(3 * 24 * 60 * 60);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Claim {
    /// What was bought.
    item: String,
    /// What it cost.
    #[schemars(range(min = 1))]
    amount: u32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Decision {
    /// Whether it is paid.
    approved: bool,
    /// How much of it; all of it if absent.
    amount: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Signature {
    /// The approver's signature.
    signature: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Paid {
    payment: String,
}

struct Expense {
    bank: Bank,
}

impl Workflow for Expense {
    const NAME: &'static str = "expense";
    const DESCRIPTION: &'static str = "Has an expense approved and signed, then pays it.";
    type Input = Claim;
    type Output = Paid;

    async fn run(self: Arc<Self>, ctx: Ctx, claim: Claim) -> Result<Paid, Stop> {
        // Before anything else: the run goes from submitted to rejected and is never working.
        if claim.amount > 10_000 {
            reject("Expenses above 10000 need an order")?;
        }
        ctx.status([
            Part::text(format!("Checking {}", claim.item)),
            Part::data(json!({ "amount": claim.amount })),
        ])
        .await;

        // The preview is published first, then the question that refers to it.
        let preview = json!({ "approved": true, "amount": claim.amount });
        let question = ctx
            .ask::<Decision>(format!("Pay {} for {}?", claim.amount, claim.item))
            .artifact(Artifact::data("expense-form.json", preview)?.named("Expense form"));
        let decision = match ctx.select(question, ctx.sleep(PATIENCE)).await {
            Either::Left(decision) => decision,
            // The dropped question is withdrawn.
            Either::Right(()) => return Err(Stop::rejected("Nobody decided in time")),
        };
        if !decision.approved {
            reject("The approver said no")?;
        }

        let amount = decision.amount.unwrap_or(claim.amount);
        let Signature { signature } = ctx.authorize(format!("Please sign the payment of {amount}")).await;

        let payment: String = ctx
            .step("pay", |attempt| {
                let bank = self.bank.clone();
                async move { bank.pay(&attempt.idempotency_key, amount).await }
            })
            .retry(RetryPolicy {
                attempts: 5,
                backoff: Duration::from_secs(1),
                deadline: Some(Duration::from_secs(60)),
                ..RetryPolicy::default()
            })
            .await?;

        let receipt = json!({ "payment": payment, "amount": amount, "signature": signature });
        ctx.artifact(Artifact::data("receipt.json", receipt)?.named("Receipt")).await;
        Ok(Paid { payment })
    }
}

/// A stand-in for an external service that recognises a repeated request by its key.
#[derive(Clone)]
struct Bank;

#[derive(Debug, thiserror::Error)]
#[error("the bank does not answer")]
struct BankError;

impl Bank {
    async fn pay(&self, key: &str, amount: u32) -> Result<String, BankError> {
        if amount == 0 {
            return Err(BankError);
        }
        Ok(format!("paid {amount} under {key}"))
    }
}

#[tokio::main]
async fn main() -> Result<(), ServerError> {
    Server::new()
        .workflow(Expense { bank: Bank })
        .data("trackway-data/expense")
        .listen("127.0.0.1:7422")
        .serve()
        .await
}
