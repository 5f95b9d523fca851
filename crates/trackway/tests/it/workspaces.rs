//! A program that serves the agents of a folder in addition to its own workflows.

use std::{fs, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use trackway::{
    Ctx, Server, Stop, Workflow, WorkspaceError,
    api::{RunUpdateKind, RunsService, StartRequest},
};

#[derive(Debug, Deserialize, JsonSchema)]
struct Order {
    item: String,
}

/// Returns the ordered item.
struct Order1;

impl Workflow for Order1 {
    const NAME: &'static str = "order";
    const DESCRIPTION: &'static str = "Orders something.";
    type Input = Order;
    type Output = String;

    async fn run(self: Arc<Self>, ctx: Ctx, order: Order) -> Result<String, Stop> {
        ctx.status(format!("ordered {}", order.item)).await;
        Ok(order.item)
    }
}

/// Delegates to the agent of the folder.
struct Delegates;

impl Workflow for Delegates {
    const NAME: &'static str = "delegates";
    const DESCRIPTION: &'static str = "Leaves it to an agent.";
    type Input = Order;
    type Output = String;

    async fn run(self: Arc<Self>, ctx: Ctx, order: Order) -> Result<String, Stop> {
        let said = ctx.agent("clerk", format!("/run order item={}", order.item)).await?;
        Ok(said)
    }
}

const CLERK: &str = "---\ndescription: Orders.\nworkflows: [order]\n---\nYou order.\n";

/// The artifacts of a run by id, and its output.
async fn done(runs: &RunsService, workflow: &str, input: Value) -> (Vec<(String, String)>, Value) {
    let start = StartRequest::new(workflow, input);
    let run = runs.start_run(start).await.unwrap().summary.id;
    let mut updates = runs.watch_run_updates(run, 0).await.unwrap();
    let (mut artifacts, mut end) = (Vec::new(), Value::Null);
    while let Some(update) = updates.next_update().await.unwrap() {
        match update.what {
            RunUpdateKind::Artifact { artifact, .. } => {
                let parts = serde_json::to_string(&artifact.parts).unwrap();
                artifacts.push((artifact.artifact_id, parts));
            }
            RunUpdateKind::Status { output, .. } => end = output,
            RunUpdateKind::Task { .. } => {}
        }
    }
    (artifacts, end)
}

/// Issue 11, A7: an agent of the folder dispatches a workflow of the program, and `ctx.agent` finds the agent.
#[tokio::test]
async fn an_agent_of_a_folder_dispatches_a_workflow_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("agents")).unwrap();
    fs::write(folder.path().join("agents/clerk.md"), CLERK).unwrap();
    let server = Server::new().workflow(Order1).workflow(Delegates);
    let server = server.data(folder.path().join("data")).workspace(folder.path()).unwrap();
    let (runtime, held) = server.start_engine().await.unwrap();
    let runs = RunsService::for_local_caller(runtime);
    let (artifacts, _) = done(&runs, "clerk", json!("/run order item=tea")).await;
    let result = artifacts.iter().find(|(id, _)| id == "tool-result-dispatch_workflow_order");
    assert!(result.is_some_and(|(_, parts)| parts.contains("ordered tea")), "{artifacts:?}");
    let (_, output) = done(&runs, "delegates", json!({ "item": "milk" })).await;
    assert!(output.to_string().contains("ordered milk"), "{output}");
    held.close_engine().await;
}

/// Issue 11, A7: each problem of the folder is reported with its line.
#[tokio::test]
async fn a_folder_with_a_mistake_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("agents")).unwrap();
    fs::write(folder.path().join("agents/clerk.md"), CLERK.replace("[order]", "[odrer]")).unwrap();
    let refused = Server::new().workflow(Order1).workspace(folder.path()).unwrap_err();
    let why = refused.to_string();
    assert!(why.contains("line 3") && why.contains("there is no workflow \"odrer\""), "{why}");
    let refused = Server::new().workspace(folder.path().join("nothing")).unwrap_err();
    assert!(matches!(refused, WorkspaceError::NoFolder(_)), "{refused:?}");
}
