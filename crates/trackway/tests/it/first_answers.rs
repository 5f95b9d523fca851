//! How long an agent waits for the first answer of a dispatched workflow that sets its own limit.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trackway::{Ctx, Server, Stop, Workflow};
use trackway_domain::Event;
use trackway_ports::Clock as _;
use trackway_runtime::ProgramRegistry;
use trackway_testkit::{ProcessSetup, TestWorld, local_run_address};

use crate::{
    helpers::with_agent,
    support::{load_log, start, wait_until_ended},
};

/// Says nothing for an hour.
struct Silent;

impl Workflow for Silent {
    const NAME: &'static str = "silent";
    const DESCRIPTION: &'static str = "Says nothing for an hour.";
    const FIRST_ANSWER_TIMEOUT: Option<Duration> = Some(Duration::from_secs(40));
    type Input = Value;
    type Output = ();

    async fn run(self: Arc<Self>, ctx: Ctx, _input: Value) -> Result<(), Stop> {
        ctx.sleep(Duration::from_secs(3_600)).await;
        Ok(())
    }
}

/// Calls a tool that does not return.
const WRITTEN: &str = r#"
id: silent
name: Silent
version: "1"
firstAnswerTimeout: 70
steps:
  - id: hang
    tool: { name: hang }
"#;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

const SCRIPT: &str = r#"
answers:
  - user: go
    calls: [{ tool: dispatch_workflow_silent, arguments: {} }]
  - text: It takes longer.
"#;

/// The agent's turn waits until exactly the limit has passed on the clock, and then gets a timeout.
fn ends_with_its_limit(server: &Server, limit: Duration) {
    let registry: ProgramRegistry = with_agent(server.workflow_registry().unwrap(), SCRIPT);
    let setup = ProcessSetup::from(registry).with_tools(Arc::new(server.step_tools().unwrap()));
    TestWorld::with_memory_store().run_to_completion(setup, async |process| {
        let run = start(&process, "editor", json!({ "prompt": "go" })).await;
        let due = process.clock.now() + limit;
        process.clock.wait_for_sleeper(due).await;
        assert!(
            !process.current_run_view(&local_run_address(run)).await.unwrap().state.is_terminal(),
            "it waits"
        );
        process.clock.advance_to(due);
        assert_eq!(wait_until_ended(&process, run).await.output["text"], "It takes longer.");
        let log = load_log(&process, run).await;
        let has = |chosen: fn(&Event) -> bool| log.iter().any(|stored| chosen(&stored.event));
        assert!(has(|event| matches!(event, Event::ValueRecorded { .. })), "that it was late is recorded");
        assert!(!has(|event| matches!(event, Event::RunAnswered { .. })), "nothing was answered");
    });
}

/// Issue 11, A13: the constant of a workflow in Rust.
#[test]
fn the_wait_ends_with_the_limit_of_a_workflow() {
    ends_with_its_limit(&Server::new().workflow(Silent), Duration::from_secs(40));
}

/// Issue 11, A13: `firstAnswerTimeout` of a definition.
#[test]
fn the_wait_ends_with_the_limit_of_a_definition() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("silent.yaml"), WRITTEN).unwrap();
    let hang = |_: Nothing, _| std::future::pending::<Result<(), &str>>();
    let server = Server::new().tool("hang", "Does not return.", hang);
    ends_with_its_limit(&server.workflows([folder.path()]), Duration::from_secs(70));
}
