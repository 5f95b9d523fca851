//! How to test a workflow: an engine on its own folder, without a server. In a project this `main` is
//! the body of a `#[tokio::test]`.

use std::{error::Error, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use trackway::{
    Ctx, Server, StateName, Stop, Workflow,
    api::{ResumeRequest, RunUpdateKind, RunsService, StartRequest},
    reject,
};

#[derive(Debug, Deserialize, JsonSchema)]
struct Order {
    item: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Answer {
    approved: bool,
}

struct Purchase;

impl Workflow for Purchase {
    const NAME: &'static str = "purchase";
    const DESCRIPTION: &'static str = "Buys something once a person has approved it.";
    type Input = Order;
    type Output = String;

    async fn run(self: Arc<Self>, ctx: Ctx, order: Order) -> Result<String, Stop> {
        let answer: Answer = ctx.ask(format!("Buy {}?", order.item)).await;
        if !answer.approved {
            reject("not approved")?;
        }
        Ok(order.item)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("trackway-testing-{}", std::process::id()));
    let (runtime, held) = Server::new().workflow(Purchase).data(&folder).start_engine().await?;
    let runs = RunsService::for_local_caller(runtime);

    let start = StartRequest::new("purchase", json!({ "item": "a lamp" }));
    let run = runs.start_run(start).await?.summary.id;

    // Every update of the run, in order, as it happens. No polling.
    let mut updates = runs.watch_run_updates(run, 0).await?;
    let mut seen = Vec::new();
    let mut output = None;
    while let Some(update) = updates.next_update().await? {
        let RunUpdateKind::Status { state, question, output: returned, .. } = update.what else {
            continue;
        };
        seen.push(state);
        if question.is_some_and(|question| question.errors.is_empty()) {
            let wrong = ResumeRequest { input: json!({ "approved": "perhaps" }), question_id: None };
            assert_eq!(runs.resume_run(run, wrong).await?.errors[0].path, "/approved");
            let right = ResumeRequest { input: json!({ "approved": true }), question_id: None };
            assert!(runs.resume_run(run, right).await?.errors.is_empty());
        }
        output = Some(returned);
    }

    let expected = [
        StateName::Working,
        StateName::InputRequired,
        StateName::InputRequired, // asked again after the wrong answer
        StateName::Working,
        StateName::Completed,
    ];
    assert_eq!(seen, expected);
    assert_eq!(output, Some(json!("a lamp")));

    held.close_engine().await;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
