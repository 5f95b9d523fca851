//! Several processes on one data folder, and processes that are killed.

use serde_json::json;

use super::shop::{Shop, three};
use crate::support::Served;

/// Proves T4, T12: two agents at once work on one folder, each seeing what the other did.
#[test]
fn two_processes_share_a_folder() {
    let shop = Shop::with(&[three()]);
    let (mut one, mut two) = (shop.agent(), shop.agent());
    let start = one.start_run("three", json!({ "sessionId": "S" }));
    let second = two.advance(&start, json!({}));
    let third = one.advance(&second, json!({}));
    assert!(two.advance(&third, json!({})).is_complete());
    for _ in 0..5 {
        let at = [&mut one, &mut two].map(|agent| agent.start_run("three", json!({})));
        assert_eq!(one.advance(&at[1], json!({})).step(), "second");
        assert_eq!(two.advance(&at[0], json!({})).step(), "second");
    }
}

/// Proves T4: an agent works on the folder of a server that is running.
#[test]
fn an_agent_works_beside_a_server() {
    let shop = Shop::with(&[three()]);
    let _server = Served::start_as(&shop.data(), &["--workflows", shop.workflows()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    assert_eq!(agent.advance(&start, json!({})).step(), "second");
    assert_eq!(shop.json(&["sessions", "show", "S"])["runs"][0]["status"], "running");
}

/// Proves T4, T12: whatever was answered before a kill is there after it, again and again.
#[test]
fn nothing_answered_is_lost_by_kills() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let mut at = agent.start_run("three", json!({ "sessionId": "S" }));
    while !at.is_complete() {
        let next = agent.advance(&at, json!({ "notesMarkdown": at.step() }));
        agent.kill();
        agent = shop.agent();
        let again = agent.advance(&at, json!({ "notesMarkdown": at.step() }));
        assert_eq!(again.bytes(), next.bytes());
        at = again;
    }
    let told = shop.json(&["sessions", "show", "S"]);
    assert_eq!(told["runs"][0]["status"], "complete", "{told}");
    assert_eq!(told["runs"][0]["branches"], 1, "{told}");
}

/// Proves T4: a call that was under way when the process was killed is there whole or not at all, and
/// the same call again has one outcome.
#[test]
fn a_call_under_way_at_a_kill_happens_once() {
    let shop = Shop::with(&[three()]);
    for round in 0..4 {
        let mut agent = shop.agent();
        let session = format!("S{round}");
        let start = agent.start_run("three", json!({ "sessionId": session }));
        agent.send("workflow_advance", &super::client::advance(&start, json!({})));
        agent.kill();
        let mut agent = shop.agent();
        let second = agent.advance(&start, json!({}));
        assert_eq!(second.step(), "second");
        assert_eq!(second.json["branch"]["forked"], false);
        let graph = shop.json(&["sessions", "graph", &session]);
        assert_eq!(graph["edges"].as_array().unwrap().len(), 1, "{graph}");
    }
}
