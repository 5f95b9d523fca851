//! `kill -9` in the middle of a turn: the turn continues, and no answered model call is repeated.

use std::fs;

use serde_json::{Value, json};
use trackway_testkit::{IdNormalizer, ScriptLatch, ScriptedModelServer};

use super::agent_workspace::{
    AgentWorkspace, artifact_ids, dispatched_task, joined_text_response, last_state,
    statuses_with_references, tool_call_reply,
};
use crate::a2a::support::{Message, StreamEvent, text_message};

const AGENT: &str = "---\nname: helper\ntools: [ledger_enter]\n---\nYou help.\n";

/// Begins a turn and does not wait for it.
async fn begin(desk: &AgentWorkspace, message: &Message) -> Value {
    desk.default_agent().send(message).await.unwrap()
}

/// Every event of the turn, to its end.
async fn replay_turn(desk: &AgentWorkspace, task: &Value) -> Vec<StreamEvent> {
    desk.default_agent().replay(task).await
}

fn first_calls(desk: &AgentWorkspace) {
    desk.queue_tool_calls(&[
        ("c1", "dispatch_workflow_echo", json!({ "text": "one" })),
        ("c2", "ledger_enter", json!({ "entry": "tea" })),
    ]);
}

fn second_calls() -> trackway_testkit::ScriptedReply {
    tool_call_reply(&[("c3", "dispatch_workflow_review", json!({ "subject": "tea" }))])
}

/// The model's last request, without generated ids and keys.
fn history(desk: &AgentWorkspace) -> Value {
    let asked = desk.model.requests();
    let mut messages = IdNormalizer::new().normalize(&asked.last().unwrap().body["messages"]);
    for message in messages.as_array_mut().unwrap() {
        if message["content"].as_str().is_some_and(|text| text.contains("idempotencyKey")) {
            message["content"] = json!("<key>");
        }
    }
    messages
}

/// The same turn on a server that keeps running.
async fn undisturbed() -> Value {
    let desk = AgentWorkspace::open(&[("agents/helper.md", AGENT)]).await;
    first_calls(&desk);
    desk.model.queue_reply(second_calls());
    desk.queue_text("All done.");
    let events = desk.run_turn(&text_message("Go.")).await;
    assert_eq!(joined_text_response(&events), "All done.");
    history(&desk)
}

/// Proves L13, X4: killed while the model answers, after the first calls were done.
#[tokio::test]
async fn killed_between_two_model_calls_a_turn_goes_on() {
    let mut desk = AgentWorkspace::open(&[("agents/helper.md", AGENT)]).await;
    first_calls(&desk);
    let latch = ScriptLatch::new();
    desk.model.queue_reply(second_calls().wait_before_status(&latch));
    let task = begin(&desk, &text_message("Go.")).await;
    desk.model.wait_for_requests(2).await;
    latch.wait_until_reached().await;
    desk.model.queue_reply(second_calls());
    desk.queue_text("All done.");
    desk.server.crash();
    let events = replay_turn(&desk, &task).await;
    assert_eq!(
        (last_state(&events).as_str(), joined_text_response(&events).as_str()),
        ("completed", "All done.")
    );
    let asked = desk.model.requests();
    assert_eq!(asked.len(), 4, "only the call that had no answer is made again");
    assert_eq!(asked[1].body, asked[2].body, "and it is the same");
    assert_eq!(statuses_with_references(&events).len(), 2, "each dispatch is told once");
    let ledger = fs::read_to_string(desk.server.data_path().join("ledger.txt")).unwrap();
    assert_eq!(ledger.lines().count(), 1, "{ledger}");
    assert_eq!(history(&desk), undisturbed().await);
}

/// Proves L13, X4: killed while text is streamed; the streamed part is replaced.
#[tokio::test]
async fn killed_while_the_model_speaks_a_turn_speaks_anew() {
    let mut desk = AgentWorkspace::open(&[("agents/helper.md", AGENT)]).await;
    desk.model.queue_reply(
        ScriptedModelServer::openai_reply()
            .with_text("The first half ")
            .to_unfinished_reply()
            .keep_open_silently(),
    );
    let task = begin(&desk, &text_message("Go.")).await;
    let mut stream = desk.default_agent().subscribe(&task, Some(0)).await;
    stream.read_until(|event| event["artifact"]["artifactId"] == "text-response").await;
    drop(stream);
    desk.queue_text("The whole.");
    desk.server.crash();
    let events = replay_turn(&desk, &task).await;
    assert_eq!(
        (last_state(&events).as_str(), joined_text_response(&events).as_str()),
        ("completed", "The whole.")
    );
    let asked = desk.model.requests();
    assert_eq!((asked.len(), &asked[0].body), (2, &asked[1].body));
    let kept = desk.default_agent().get_task(&task).await;
    assert_eq!(kept["artifacts"][0]["parts"], json!([{ "kind": "text", "text": "The whole." }]));
}

/// Proves D2, L13, X4: killed before a dispatched workflow has answered; it is the same child.
#[tokio::test]
async fn killed_after_a_dispatch_a_turn_hears_the_same_child() {
    let config = "[dispatch]\nfirst_answer_timeout = \"1h\"\n";
    let files = [("agents/helper.md", AGENT), ("trackway.toml", config)];
    let mut desk = AgentWorkspace::open(&files).await;
    let input = json!({ "entries": 1, "delayMs": 4_000 });
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_ledger", input)]);
    desk.queue_text("It is written.");
    let task = begin(&desk, &text_message("Go.")).await;
    let mut stream = desk.default_agent().subscribe(&task, Some(0)).await;
    stream.read_until(|event| event["artifact"]["name"] == "tool-call-dispatch_workflow_ledger").await;
    drop(stream);
    desk.server.crash();
    let events = replay_turn(&desk, &task).await;
    assert_eq!(
        (last_state(&events).as_str(), joined_text_response(&events).as_str()),
        ("completed", "It is written.")
    );
    assert_eq!(desk.model.requests().len(), 2);
    assert_eq!(desk.tool_result(1, "c1")["outcome"], "answered");
    assert_eq!(statuses_with_references(&events).len(), 1);
    let ended = desk.server.agent("ledger").subscribe(&dispatched_task(&events, 0), Some(0)).await;
    assert_eq!(last_state(&ended.read_to_end().await), "completed");
    let ledger = fs::read_to_string(desk.server.data_path().join("ledger.txt")).unwrap();
    assert_eq!(ledger.lines().count(), 1, "one child: {ledger}");
    assert_eq!(
        artifact_ids(&events),
        ["tool-call-dispatch_workflow_ledger", "tool-result-dispatch_workflow_ledger", "text-response"]
    );
}
