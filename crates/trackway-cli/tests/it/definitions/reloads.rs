//! Files that change while a server runs, and between two servers.

use serde_json::{Value, json};

use super::{DefinitionWorkspace, TOUR};
use crate::support::ServerUnderTest;

/// Lists the agents until the condition holds: the entry of `tour`, if any.
async fn until(server: &ServerUnderTest, so: impl Fn(Option<&Value>) -> bool) {
    loop {
        let (_, list) = server.get("/a2a/agents").await;
        let mut agents = list["agents"].as_array().unwrap().iter();
        if so(agents.find(|agent| agent["name"] == "tour")) {
            return;
        }
        // why: the system reports changed files in its own time, and a client gets no signal.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Proves T9, T16: a run in flight ends with the definition that it began with; new ones use the new
/// definition.
#[tokio::test]
async fn a_changed_file_is_for_new_runs() {
    let desk = DefinitionWorkspace::new();
    let server = desk.serve();
    let old = server.start_run("tour", json!({ "list": [], "delay": 0 })).await;
    server.wait_for_question(&old).await;
    let changed =
        TOUR.replace("Every kind of step.", "Changed.").replace("artifact: report", "artifact: changed");
    desk.write_workflow("tour.yaml", &changed);
    until(&server, |tour| tour.is_some_and(|tour| tour["description"] == "Changed.")).await;
    let new = server.start_run("tour", json!({ "list": [], "delay": 0 })).await;
    server.wait_for_question(&new).await;
    let body = json!({ "input": { "name": "Ben" } });
    for (run, artifact) in [(old, "report"), (new, "changed")] {
        server.post(&format!("/api/runs/{run}/resume"), &body).await;
        let told = server.wait_for_end(&run).await;
        let mut made = told.iter().filter_map(|update| update["artifact"]["artifactId"].as_str());
        assert_eq!(made.next_back(), Some(artifact));
    }
}

/// Proves T9, T16: without its file a run continues from the store, and new ones are refused.
#[tokio::test]
async fn a_removed_file_takes_no_run_with_it() {
    let desk = DefinitionWorkspace::new();
    let mut server = desk.serve();
    let run = server.start_run("tour", json!({ "list": ["a"], "delay": 0 })).await;
    server.wait_for_question(&run).await;
    std::fs::remove_file(desk.workflows().join("tour.yaml")).unwrap();
    until(&server, |tour| tour.is_none()).await;
    server.kill();
    let check = desk.folder.run_command(&["runs", "replay-check", "--json"]).expect(0).json();
    assert_eq!((&check["checked"], &check["misfits"]), (&json!(1), &json!(0)), "{check}");
    let mut server = ServerUnderTest::start(&desk.folder.data_path());
    let check = desk.folder.run_command(&["runs", "replay-check", "--json"]).expect(0).json();
    assert_eq!(check["misfits"], 0, "by the server that runs: {check}");
    let body = json!({ "input": { "name": "Ben" } });
    server.post(&format!("/api/runs/{run}/resume"), &body).await;
    let told = server.wait_for_end(&run).await;
    assert_eq!(told.last().unwrap()["state"], "completed");
    assert_eq!(desk.ledger_entries(), ["a", "round", "round"]);
    assert_eq!(server.interrupt(), 0);
}
