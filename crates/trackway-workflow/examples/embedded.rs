//! An engine in your own program: a store, a workflow, and no server.

use std::{error::Error, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use trackway_runtime::{Options, ProgramRegistry, Runtime, SubmitRunRequest};
use trackway_sqlite::SqliteJournal;
use trackway_workflow::{Caller, Ctx, StateName, Stop, Workflow, program};

#[derive(Debug, Deserialize, JsonSchema)]
struct Order {
    item: String,
}

struct Purchase;

impl Workflow for Purchase {
    const NAME: &'static str = "purchase";
    const DESCRIPTION: &'static str = "Buys something.";
    type Input = Order;
    type Output = String;

    async fn run(self: Arc<Self>, ctx: Ctx, order: Order) -> Result<String, Stop> {
        // Bought once, even if the program is restarted many times.
        let receipt = ctx
            .step("buy", |attempt| async move { Ok::<_, std::io::Error>(attempt.idempotency_key) })
            .await?;
        Ok(format!("{}: {receipt}", order.item))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let registry = ProgramRegistry::new();
    registry.add_program(program(Purchase))?;
    let store = Arc::new(SqliteJournal::open(folder.path())?);
    let runtime = Runtime::start(Options::new(store, Arc::new(registry)));
    let submitted = runtime
        .submit_run(SubmitRunRequest::new("purchase", json!({ "item": "tea" }), Caller::local_without_auth()))
        .await?;
    let run = runtime.wait_until_run_idle(submitted.view).await?;
    runtime.stop_runtime().await;
    assert_eq!(run.state, StateName::Completed);
    assert!(run.output.as_str().is_some_and(|output| output.starts_with("tea: ")));
    Ok(())
}
