//! Several processes on one data folder, and processes that are killed.

use serde_json::json;

use super::mcp_workspace::{McpWorkspace, three_step_workflow};
use crate::support::ServerUnderTest;

/// Proves T4, T12: two agents at once work on one folder, each seeing what the other did.
#[test]
fn two_processes_share_a_folder() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let (mut one, mut two) = (shop.connect(), shop.connect());
    let start = one.start_run("three", json!({ "sessionId": "S" }));
    let second = two.advance(&start, json!({}));
    let third = one.advance(&second, json!({}));
    assert!(two.advance(&third, json!({})).is_complete());
    for _ in 0..5 {
        let at = [&mut one, &mut two].map(|agent| agent.start_run("three", json!({})));
        assert_eq!(one.advance(&at[1], json!({})).step_id(), "second");
        assert_eq!(two.advance(&at[0], json!({})).step_id(), "second");
    }
}

/// Proves T4: an agent works on the folder of a server that is running.
#[test]
fn an_agent_works_beside_a_server() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let _server = ServerUnderTest::start_with_args(&shop.data(), &["--workflows", shop.workflows()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    assert_eq!(agent.advance(&start, json!({})).step_id(), "second");
    assert_eq!(shop.run_json_command(&["sessions", "show", "S"])["runs"][0]["status"], "running");
}

/// Proves T4, T12: everything that was answered before a kill is there after it, again and again.
#[test]
fn nothing_answered_is_lost_by_kills() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let mut at = agent.start_run("three", json!({ "sessionId": "S" }));
    while !at.is_complete() {
        let next = agent.advance(&at, json!({ "notesMarkdown": at.step_id() }));
        agent.kill();
        agent = shop.connect();
        let again = agent.advance(&at, json!({ "notesMarkdown": at.step_id() }));
        assert_eq!(again.text_and_json(), next.text_and_json());
        at = again;
    }
    let told = shop.run_json_command(&["sessions", "show", "S"]);
    assert_eq!(told["runs"][0]["status"], "complete", "{told}");
    assert_eq!(told["runs"][0]["branches"], 1, "{told}");
}

/// Proves T4: a call that was under way at the kill is recorded completely or not at all, and the same call
/// again has one outcome.
#[test]
fn a_call_under_way_at_a_kill_happens_once() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    for round in 0..4 {
        let mut agent = shop.connect();
        let session = format!("S{round}");
        let start = agent.start_run("three", json!({ "sessionId": session }));
        agent.send("workflow_advance", &super::client::advance_arguments(&start, json!({})));
        agent.kill();
        let mut agent = shop.connect();
        let second = agent.advance(&start, json!({}));
        assert_eq!(second.step_id(), "second");
        assert_eq!(second.json["branch"]["forked"], false);
        let graph = shop.run_json_command(&["sessions", "graph", &session]);
        assert_eq!(graph["edges"].as_array().unwrap().len(), 1, "{graph}");
    }
}
