//! Workflow files that the engine drives, through the binary.

mod forks;
mod guided;
mod reloads;

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::support::{CommandOutput, ServerUnderTest, TestFolder};

/// Every kind of step that the engine runs, with a file that records each tool call.
pub(crate) const TOUR: &str = r#"
id: tour
name: Tour
description: Every kind of step.
version: "1"
steps:
  - id: who
    ask: { message: "Who is it?", schema: { type: object, required: [name], properties: { name: { type: string } } } }
    save: user
  - id: known
    switch:
      - when: "user.name == 'Ada'"
        steps: [{ id: hello, emit: { artifact: greeting, text: "Hi {{ user.name }}" } }]
      - else: true
        steps: [{ id: stranger, emit: { artifact: greeting, text: "Who is {{ user.name }}?" } }]
  - id: all
    map:
      items: list
      itemVar: one
      limit: 2
      steps:
        - id: enter
          tool: { name: ledger_enter, args: { entry: "=one", delayMs: "=delay" } }
        - id: sub
          workflow: { id: inner, context: { what: "=one" }, output: said }
          save: said
      output: said
    save: made
  - id: rounds
    loop: { type: for, count: 2, maxIterations: 2 }
    body: [{ id: again, tool: { name: ledger_enter, args: { entry: round } } }]
  - id: report
    emit: { artifact: report, data: "{'made': made}" }
"#;

const INNER: &str = r#"
id: inner
name: Inner
description: What each item is for.
version: "1"
steps:
  - { id: say, emit: { artifact: "note-{{ what }}", text: "about {{ what }}" }, save: said }
"#;

/// A data folder with workflows next to it.
pub(crate) struct DefinitionWorkspace {
    pub(crate) folder: TestFolder,
}

impl DefinitionWorkspace {
    pub(crate) fn new() -> Self {
        let desk = Self { folder: TestFolder::new() };
        fs::create_dir(desk.workflows()).unwrap();
        desk.write_workflow("tour.yaml", TOUR);
        desk.write_workflow("inner.yaml", INNER);
        desk
    }

    pub(crate) fn workflows(&self) -> PathBuf {
        self.folder.path().join("workflows")
    }

    pub(crate) fn write_workflow(&self, file: &str, text: &str) {
        fs::write(self.workflows().join(file), text).unwrap();
    }

    pub(crate) fn serve(&self) -> ServerUnderTest {
        let workflows = self.workflows();
        ServerUnderTest::start_with_args(
            &self.folder.data_path(),
            &["--workflows", workflows.to_str().unwrap()],
        )
    }

    pub(crate) fn run(&self, args: &[&str], stdin: &str) -> CommandOutput {
        let workflows = self.workflows();
        let args = [args, &["--workflows", workflows.to_str().unwrap()]].concat();
        self.folder.run_command_with_stdin(&args, stdin)
    }

    /// The entries of the ledger, each with its idempotency key.
    pub(crate) fn ledger_entries_with_keys(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.folder.data_path().join("ledger.txt")).unwrap_or_default();
        let pair = |line: &str| line.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
        text.lines().filter_map(pair).collect()
    }

    pub(crate) fn ledger_entries(&self) -> Vec<String> {
        let mut entries: Vec<String> =
            self.ledger_entries_with_keys().into_iter().map(|(entry, _)| entry).collect();
        entries.sort();
        entries
    }
}

fn message(id: &str, data: &Value, task: Option<&str>) -> Value {
    let mut message = json!({ "role": "ROLE_USER", "messageId": id, "parts": [{ "data": data }] });
    if let Some(task) = task {
        message["taskId"] = json!(task);
    }
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": message }
    })
}

/// Proves T16: over A2A, with its own card.
#[tokio::test]
async fn a_definition_is_an_agent() {
    let desk = DefinitionWorkspace::new();
    let server = desk.serve();
    let (status, card) = server.get("/a2a/agents/tour/.well-known/agent-card.json").await;
    assert_eq!((status, &card["description"]), (200, &json!("Every kind of step.")));
    let input = json!({ "list": ["a", "b", "c"], "delay": 1 });
    let (_, told) = server.post("/a2a/agents/tour", &message("m1", &input, None)).await;
    let task = &told["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{told}");
    let id = task["id"].as_str().unwrap();
    let (_, told) =
        server.post("/a2a/agents/tour", &message("m2", &json!({ "name": "Ada" }), Some(id))).await;
    let task = &told["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{told}");
    let names: Vec<&str> = task["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| artifact["name"].as_str().unwrap_or("?"))
        .collect();
    for name in ["greeting", "note-a", "note-b", "note-c", "report"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_eq!(desk.ledger_entries(), ["a", "b", "c", "round", "round"]);
}

/// Proves T16: `trackway run` drives a workflow in its own process; the example is one that the plain
/// binary runs.
#[test]
fn a_definition_is_run_from_the_command_line() {
    let folder = TestFolder::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/workflows");
    let input = r#"{"names": ["Ada", "Ben"]}"#;
    let args = ["run", "roll-call", "--workflows", examples, "--input", input, "--json"];
    let run = folder.run_command_with_stdin(&args, "{\"missing\": [\"Cleo\"]}\n").expect(0);
    let lines = run.json_lines();
    let made: Vec<&str> = lines.iter().filter_map(|line| line["artifact"]["artifactId"].as_str()).collect();
    assert_eq!(made, ["greeting-Ada", "greeting-Ben", "absent-Cleo", "minutes"]);
    let refused = folder.run_command(&["run", "roll-call", "--workflows", examples, "--input", "{}"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("names"), "{refused:?}");
}

/// Proves T16: a workflow that needs an agent is refused with that reason, over every interface.
#[tokio::test]
async fn what_needs_an_agent_says_so() {
    let desk = DefinitionWorkspace::new();
    let text = INNER.replace("id: inner", "id: talk").replace(
        "{ id: say, emit: { artifact: \"note-{{ what }}\", text: \"about {{ what }}\" }, save: said }",
        "{ id: say, prompt: Say it. }",
    );
    desk.write_workflow("talk.yaml", &text);
    let refused = desk.run(&["run", "talk"], "").expect(2);
    assert!(refused.stderr.contains("\"say\" is work for an agent"), "{refused:?}");
    assert!(refused.stderr.contains("trackway mcp"), "{refused:?}");
    let server = desk.serve();
    let call = message("m1", &json!({}), None);
    let answer = server.http.post(format!("{}/a2a/agents/talk", server.url)).json(&call).send();
    let told: Value = answer.await.unwrap().json().await.unwrap();
    assert!(told.to_string().contains("is work for an agent"), "{told}");
    let body = json!({ "workflow": "talk", "input": {} });
    let (status, told) = server.post("/api/runs", &body).await;
    assert_eq!((status, &told["code"]), (404, &json!("unknown-workflow")));
    assert!(told["hint"].as_str().unwrap().contains("MCP"), "{told}");
    // A server has its own folders.
    let elsewhere = desk.run(&["run", "tour"], "").expect(2);
    assert!(elsewhere.stderr.contains("--workflows"), "{elsewhere:?}");
}

/// Proves T16, D1: a run that is killed in the middle of a map continues; nothing recorded is repeated.
#[tokio::test]
async fn a_map_survives_a_power_cut() {
    let desk = DefinitionWorkspace::new();
    let mut server = desk.serve();
    let list: Vec<String> = (0..12).map(|number| format!("e{number:02}")).collect();
    let run = server.start_run("tour", json!({ "list": list, "delay": 20 })).await;
    server.wait_for_question(&run).await;
    let body = json!({ "input": { "name": "Ben" } });
    server.post(&format!("/api/runs/{run}/resume"), &body).await;
    // Until some items are recorded, and others are not.
    let mut stream = server.http.get(format!("{}/api/runs/{run}/stream", server.url)).send().await.unwrap();
    let mut text = String::new();
    while !text.contains("note-e03") {
        let chunk = stream.chunk().await.unwrap().expect("it goes on");
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    let recorded: Vec<String> = desk.ledger_entries_with_keys().into_iter().map(|(entry, _)| entry).collect();
    server.kill();
    let server = ServerUnderTest::start(&desk.folder.data_path());
    let updates = server.wait_for_end(&run).await;
    assert_eq!(updates.last().unwrap()["state"], "completed");
    let ledger = desk.ledger_entries_with_keys();
    let count = |entry: &str| ledger.iter().filter(|(known, _)| known == entry).count();
    for entry in &list {
        // At most two were under way; their keys are the same.
        let keys: std::collections::BTreeSet<_> =
            ledger.iter().filter(|(known, _)| known == entry).map(|(_, key)| key).collect();
        assert_eq!(keys.len(), 1, "{entry}");
    }
    let twice = list.iter().filter(|entry| count(entry) > 1).count();
    assert!(twice <= 2, "{ledger:?}");
    assert!(recorded.len() < list.len() + 2, "it was killed in the middle: {recorded:?}");
    for entry in ["e00", "e01", "e02"] {
        assert_eq!(count(entry), 1, "{entry} was recorded before");
    }
}

const SIGNING: &str = r#"
id: signing
name: Signing
description: Everything that a workflow can say.
version: "1"
steps:
  - { id: begin, status: "Looking for {{ item }}" }
  - id: sign
    ask:
      message: "Sign for {{ item }}?"
      schema: { type: object, required: [name], properties: { name: { type: string } } }
      authorize: true
      artifact: { artifact: order.json, data: "{'item': item}" }
    save: signed
  - { id: declined, runCondition: "signed.name == 'no'", reject: "{{ item }} was not signed for" }
  - { id: receipt, emit: { artifact: receipt.txt, text: "Signed by {{ signed.name }}" } }
"#;

/// Issue 11, A13: a workflow file reports a status, asks for an authorization with an artifact, and
/// rejects.
#[tokio::test]
async fn a_definition_speaks_asks_for_a_signature_and_declines() {
    let desk = DefinitionWorkspace::new();
    desk.write_workflow("signing.yaml", SIGNING);
    let server = desk.serve();
    for (name, state) in [("Ada", "TASK_STATE_COMPLETED"), ("no", "TASK_STATE_REJECTED")] {
        let input = json!({ "item": "tea" });
        let send = message(&format!("{name}-1"), &input, None);
        let (_, told) = server.post("/a2a/agents/signing", &send).await;
        let task = &told["result"]["task"];
        assert_eq!(task["status"]["state"], "TASK_STATE_AUTH_REQUIRED", "{told}");
        assert_eq!(task["artifacts"][0]["artifactId"], "order.json");
        let history = task["history"].to_string();
        assert!(history.contains("Looking for tea"), "{history}");
        let id = task["id"].as_str().unwrap();
        let answer = message(&format!("{name}-2"), &json!({ "name": name }), Some(id));
        let (_, told) = server.post("/a2a/agents/signing", &answer).await;
        let task = &told["result"]["task"];
        assert_eq!(task["status"]["state"], state, "{told}");
        let said = task["status"]["message"].to_string();
        assert_eq!(said.contains("tea was not signed for"), name == "no", "{said}");
    }
}
