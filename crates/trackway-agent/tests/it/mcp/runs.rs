//! Tools in runs: questions of servers, and artifacts.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use trackway_agent::BuiltInTools;
use trackway_artifacts::{ArtifactLimits, ArtifactService, ArtifactServiceOptions, NewArtifact};
use trackway_domain::{
    Access, ArtifactFilename, ArtifactScope, Caller, Failure, RunId, SessionId, StateName, StepOutcome,
};
use trackway_engine::RunView;
use trackway_outgoing::AddressPolicy;
use trackway_ports::NoAuditRecorder;
use trackway_runtime::{
    Options, Program, ProgramRegistry, ProgramStop, RetryPolicy, Runtime, SubmitRunRequest, SystemClock,
    Tool, ToolCallContext,
};
use trackway_sqlite::SqliteJournal;
use trackway_testkit::{answer_delivery, local_run_address};

use super::{
    fixture::NEWEST,
    mcp_harness::{RunningServers, start_fixture},
};
use crate::turns::harness::workflow_with_schema;

/// A program that makes the calls of its input one after the other, each as a step, and returns their
/// results.
fn calling_workflow(tools: Vec<Arc<dyn Tool>>) -> Arc<dyn Program> {
    workflow_with_schema("calls", json!({}), move |stage, input| {
        let tools = tools.clone();
        async move {
            let mut results = Vec::new();
            for call in input.as_array().cloned().unwrap_or_default() {
                let tool = tools.iter().find(|tool| tool.info().name == call["tool"]);
                let tool = tool.ok_or_else(|| ProgramStop::Failed(Failure::new("no such tool")))?;
                let mut work = |attempt| -> BoxFuture<'_, _> {
                    let about = ToolCallContext::from_step(&stage, attempt);
                    let called = tool.call(call["arguments"].clone(), about);
                    Box::pin(async move { called.await.map(|output| output.value) })
                };
                let (_, outcome) = stage.step("call", RetryPolicy::default(), &mut work).await;
                results.push(match outcome {
                    StepOutcome::Ok(value) => value,
                    StepOutcome::Err(failure) => json!({"failed": failure.message}),
                });
            }
            Ok(json!(results))
        }
    })
}

/// A runtime with its own store.
struct RuntimeHarness {
    runtime: Runtime,
    folder: TempDir,
}

impl RuntimeHarness {
    fn open(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::open_in(tempfile::tempdir().unwrap(), tools)
    }

    /// Ends the process; its store remains.
    async fn close(self) -> TempDir {
        self.runtime.stop_runtime().await;
        self.folder
    }

    fn open_in(folder: TempDir, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::open_with(folder, |_| tools)
    }

    /// With tools that use the store of the runs.
    fn open_with(folder: TempDir, tools: impl FnOnce(&Arc<SqliteJournal>) -> Vec<Arc<dyn Tool>>) -> Self {
        let registry = ProgramRegistry::new();
        let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
        registry.add_program(calling_workflow(tools(&journal))).unwrap();
        Self { runtime: Runtime::start(Options::new(journal, Arc::new(registry))), folder }
    }

    async fn submit(&self, caller: Caller, session: &str, calls: &Value) -> RunId {
        let submit = SubmitRunRequest {
            session: Some(SessionId::new(session).unwrap()),
            ..SubmitRunRequest::new("calls", calls.clone(), caller)
        };
        self.runtime.submit_run(submit).await.unwrap().view.submission.run
    }

    /// The run once it waits or has ended.
    async fn wait_until_idle(&self, caller: &Caller, run: RunId) -> RunView {
        let place = trackway_runtime::RunAddress {
            access: Access::own_only(caller.clone()),
            ..local_run_address(run)
        };
        let view = self.runtime.current_run_view(&place).await.unwrap();
        self.runtime.wait_until_run_idle(view).await.unwrap()
    }

    async fn results(&self, caller: Caller, session: &str, calls: &Value) -> Value {
        let run = self.submit(caller.clone(), session, calls).await;
        let view = self.wait_until_idle(&caller, run).await;
        assert_eq!(view.state, StateName::Completed, "{view:?}");
        view.output
    }
}

async fn start_asking(more: Value) -> (RuntimeHarness, RunningServers) {
    let servers = start_fixture(&more).await;
    (RuntimeHarness::open(servers.list_server_tools()), servers)
}

/// A server's question becomes a question of the run, and the answer reaches the server.
#[tokio::test]
async fn a_question_of_a_server_is_asked_of_the_user() {
    check_question_reaches_the_user(json!({})).await;
}

/// The newest protocol asks in another way.
#[tokio::test]
async fn a_question_of_a_server_of_the_newest_protocol_is_asked_of_the_user() {
    check_question_reaches_the_user(json!({"env": {NEWEST: "1"}})).await;
}

async fn check_question_reaches_the_user(more: Value) {
    let (house, servers) = start_asking(more).await;
    for (answer, told) in [
        (json!({"city": "Bonn"}), json!({"action": "accept", "content": {"city": "Bonn"}})),
        (json!({"decline": true}), json!({"action": "decline"})),
    ] {
        let calls = json!([{"tool": "one__ask", "arguments": {}}]);
        let run = house.submit(Caller::local_without_auth(), "s", &calls).await;
        let view = house.wait_until_idle(&Caller::local_without_auth(), run).await;
        assert_eq!(view.state, StateName::InputRequired, "{view:?}");
        let question = view.question.clone().unwrap();
        assert_eq!(question.schema["properties"]["city"]["type"], "string");
        let id = format!("answer-{run}");
        house.runtime.deliver_message(answer_delivery(run, &id, answer)).await.unwrap();
        let view = house.wait_until_idle(&Caller::local_without_auth(), run).await;
        assert_eq!(view.state, StateName::Completed, "{view:?}");
        let said: Value = serde_json::from_str(view.output[0].as_str().unwrap()).unwrap();
        assert_eq!(said, told);
    }
    servers.shutdown().await;
}

/// The next process repeats the call, and the user is not asked twice.
#[tokio::test]
async fn a_question_outlasts_the_process_and_the_server() {
    let (house, servers) = start_asking(json!({})).await;
    let calls = json!([{"tool": "one__ask", "arguments": {}}]);
    let run = house.submit(Caller::local_without_auth(), "s", &calls).await;
    let view = house.wait_until_idle(&Caller::local_without_auth(), run).await;
    assert_eq!(view.state, StateName::InputRequired, "{view:?}");
    let store = house.close().await;
    servers.shutdown().await;
    let servers = start_fixture(&json!({})).await;
    let house = RuntimeHarness::open_in(store, servers.list_server_tools());
    house.runtime.deliver_message(answer_delivery(run, "a", json!({"city": "Bonn"}))).await.unwrap();
    let view = house.wait_until_idle(&Caller::local_without_auth(), run).await;
    assert_eq!(view.state, StateName::Completed, "{view:?}");
    assert!(view.output[0].as_str().unwrap().contains("Bonn"), "{view:?}");
    servers.shutdown().await;
}

fn artifact_service(journal: &Arc<SqliteJournal>) -> Arc<ArtifactService> {
    Arc::new(ArtifactService::new(ArtifactServiceOptions {
        store: journal.clone(),
        blobs: Arc::new(journal.blob_store()),
        journal: journal.clone(),
        clock: Arc::new(SystemClock),
        limits: ArtifactLimits::default(),
        audit: Arc::new(NoAuditRecorder),
    }))
}

fn built_in_tools(journal: &Arc<SqliteJournal>) -> Vec<Arc<dyn Tool>> {
    let (addresses, clock) = (AddressPolicy::default(), Arc::new(SystemClock));
    BuiltInTools { addresses, clock, artifacts: Some(artifact_service(journal)) }.into_tools()
}

/// A model reads only the artifacts of its own conversation.
#[tokio::test]
async fn artifacts_are_written_listed_and_read_within_one_session() {
    let house = RuntimeHarness::open_with(tempfile::tempdir().unwrap(), built_in_tools);
    let write = json!([
        {"tool": "artifact_write", "arguments": {"name": "plan.md", "text": "# Plan"}},
        {"tool": "artifact_write", "arguments": {"name": "text-response", "text": "mine"}},
        {"tool": "time_now", "arguments": {}},
    ]);
    let run = house.submit(Caller::local_without_auth(), "s", &write).await;
    let view = house.wait_until_idle(&Caller::local_without_auth(), run).await;
    assert_eq!(view.output[0], json!({"written": "plan.md"}));
    assert!(view.output[1]["failed"].as_str().unwrap().contains("conversation itself"));
    assert!(view.output[2]["now"].is_string());
    let ids: Vec<&str> = view.artifacts.iter().map(|artifact| artifact.id.as_str()).collect();
    assert_eq!(ids, ["plan.md"]);

    let look = json!([
        {"tool": "artifact_list", "arguments": {}},
        {"tool": "artifact_read", "arguments": {"name": "plan.md"}},
        {"tool": "artifact_read", "arguments": {"name": "plan.md", "taskId": run}},
    ]);
    let seen = house.results(Caller::local_without_auth(), "s", &look).await;
    assert_eq!(seen[0]["artifacts"][0]["name"], "plan.md");
    assert_eq!(seen[0]["artifacts"][0]["taskId"], json!(run));
    let shown = ["version", "mediaType", "bytes", "scope"].map(|key| seen[0]["artifacts"][0][key].clone());
    assert_eq!(json!(shown), json!([0, "text/markdown", 6, "session"]));
    assert_eq!(seen[1]["text"], "# Plan");
    assert_eq!(seen[2]["text"], "# Plan");

    // Another session, and another tenant in a session of the same name, cannot see it.
    for (caller, session) in [(Caller::local_without_auth(), "t"), (Caller::new("other", "user"), "s")] {
        let seen = house.results(caller, session, &look).await;
        assert_eq!(seen[0]["artifacts"], json!([]));
        assert!(seen[1]["failed"].is_string() && seen[2]["failed"].is_string(), "{seen}");
    }
}

/// Proves I10: every write of a name is a version, each can be read, and what the user keeps for every
/// conversation is found where the conversation has none of that name.
#[tokio::test]
async fn versions_and_the_users_own_artifacts_are_read() {
    let mut service = None;
    let house = RuntimeHarness::open_with(tempfile::tempdir().unwrap(), |journal| {
        service = Some(artifact_service(journal));
        built_in_tools(journal)
    });
    let service = service.unwrap();
    let caller = Caller::local_without_auth();
    let access = Access::own_only(caller.clone());
    for (name, scope) in [("plan.md", ArtifactScope::User), ("rules.txt", ArtifactScope::Tenant)] {
        let new = NewArtifact::new(ArtifactFilename::new(name).unwrap(), scope, "kept");
        service.save(&access, new).await.unwrap();
    }
    let write =
        |text: &str| json!({"tool": "artifact_write", "arguments": {"name": "plan.md", "text": text}});
    let read = |arguments: Value| json!({"tool": "artifact_read", "arguments": arguments});
    let calls = json!([
        read(json!({"name": "plan.md"})),
        write("one"),
        write("two"),
        read(json!({"name": "plan.md"})),
        read(json!({"name": "plan.md", "version": 0})),
        read(json!({"name": "plan.md", "version": 7})),
        read(json!({"name": "rules.txt", "offset": 2})),
        read(json!({"name": "../rules.txt"})),
        {"tool": "artifact_list", "arguments": {}},
    ]);
    let seen = house.results(caller, "s", &calls).await;
    let texts: Vec<Value> = seen.as_array().unwrap().iter().map(|result| result["text"].clone()).collect();
    assert_eq!(json!(texts[..7]), json!(["kept", null, null, "two", "one", null, "pt"]), "{seen}");
    assert!(seen[5]["failed"].is_string() && seen[7]["failed"].is_string(), "{seen}");
    let listed: Vec<Value> = seen[8]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| json!([entry["name"], entry["version"], entry["scope"]]))
        .collect();
    let expected = json!([["plan.md", 1, "session"], ["plan.md", 0, "user"], ["rules.txt", 0, "tenant"]]);
    assert_eq!(json!(listed), expected);
}
