//! What the model is told of a dispatch.

use serde_json::{Value, json};

use super::desk::{Desk, child, references, spoken, state};
use crate::a2a::support::{Event, data, text};

const CONFIRMS: &str = r#"
id: confirms
name: Confirms
description: Asks before anything else.
version: "1"
steps:
  - id: sure
    ask:
      message: Are you sure?
      schema: { type: object, required: [sure], properties: { sure: { type: boolean } } }
"#;

fn metadata(name: &str, result: &Value) -> Value {
    let description = result["metadata"]["description"].as_str().unwrap();
    assert!(!description.is_empty());
    json!({ "workflowName": name, "description": description, "pluginId": name })
}

/// A turn in which the model makes one dispatch; its events and the dispatch's result.
async fn dispatched(desk: &Desk, workflow: &str, input: Value) -> (Vec<Event>, Value) {
    let requests = desk.model.asked().len();
    desk.calls(&[("c", &format!("dispatch_workflow_{workflow}"), input)]);
    desk.says("So it is.");
    let events = desk.turn(&text("Go.")).await;
    assert_eq!(state(&events), "completed");
    let result = desk.result(requests + 1, "c");
    assert_eq!(result["taskId"], child(&events, 0)["id"], "{result}");
    assert_eq!(result["metadata"], metadata(workflow, &result));
    (events, result)
}

/// Proves D3.
#[tokio::test]
async fn a_first_answer_is_the_result() {
    let desk = Desk::open(&[]).await;
    let (_, told) = dispatched(&desk, "invest", json!({ "walletAddress": "0x1" })).await;
    let parts = told["result"].as_array().unwrap();
    assert_eq!(told["outcome"], "answered");
    assert_eq!(parts[0], json!({ "kind": "text", "text": "Found 3 yield opportunities:" }));
    assert_eq!(
        (&parts[1]["kind"], &parts[1]["data"]["opportunities"][0]["protocol"]),
        (&json!("data"), &json!("Aave"))
    );
    assert_eq!((told.get("message"), told.get("schema")), (None, None));
}

/// Proves D3.
#[tokio::test]
async fn a_rejection_is_told() {
    let desk = Desk::open(&[]).await;
    let input = json!({ "walletAddress": "0x1", "chainId": 5 });
    let (events, told) = dispatched(&desk, "invest", input).await;
    assert_eq!(told["outcome"], "rejected");
    assert_eq!(told["message"], "Wallet address is not on Arbitrum network (chain ID 42161)");
    let task = desk.server.agent("invest").get(&child(&events, 0)).await;
    assert_eq!(task["status"]["state"], "rejected");
}

/// Proves D3.
#[tokio::test]
async fn a_failure_is_told() {
    let desk = Desk::open(&[]).await;
    let (events, told) = dispatched(&desk, "fails", json!({ "message": "no luck" })).await;
    assert_eq!((&told["outcome"], &told["message"]), (&json!("failed"), &json!("no luck")));
    let task = desk.server.agent("fails").get(&child(&events, 0)).await;
    assert_eq!(task["status"]["state"], "failed");
}

/// Proves D3: a question that comes first is told with its schema, and stays open.
#[tokio::test]
async fn a_question_is_told_with_its_schema() {
    let desk = Desk::open(&[("workflows/confirms.yaml", CONFIRMS)]).await;
    let (events, told) = dispatched(&desk, "confirms", json!({})).await;
    assert_eq!(told["outcome"], "input-required");
    assert_eq!(told["result"], json!([{ "kind": "text", "text": "Are you sure?" }]));
    assert_eq!(told["schema"]["required"], json!(["sure"]));
    assert!(told["message"].is_string(), "{told}");
    let task = desk.server.agent("confirms").get(&child(&events, 0)).await;
    assert_eq!(task["status"]["state"], "input-required");
}

/// Proves D3: what a workflow asks after an answer is told in the same form; here it wants a
/// signature.
#[tokio::test]
async fn a_wish_for_permission_is_told() {
    let desk = Desk::open(&[]).await;
    let (events, _) = dispatched(&desk, "invest", json!({ "walletAddress": "0x1" })).await;
    let invest = desk.server.agent("invest");
    let task = child(&events, 0);
    let mut asking = invest.subscribe(&task, Some(0)).await;
    asking.until(|event| event["status"]["state"] == "input-required").await;
    desk.says("Please sign.");
    let form = data(json!({ "walletAddress": "0x1", "amount": 7 }));
    let second = desk.turn(&form.within(&events[0].result["contextId"])).await;
    assert_eq!(spoken(&second), "Please sign.");
    let told = desk.result(2, "reply");
    assert_eq!((&told["outcome"], &told["taskId"]), (&json!("auth-required"), &task["id"]));
    assert_eq!(told["result"][0]["text"], "Please sign the investment of 7");
    assert_eq!(told["schema"]["required"], json!(["signature"]));
    assert_eq!(told["metadata"]["workflowName"], "invest");
    assert_eq!(invest.get(&task).await["status"]["state"], "auth-required");
}

/// Proves D3: a workflow that says nothing in time is told to be late, and goes on.
#[tokio::test]
async fn a_late_answer_is_a_timeout_and_the_task_goes_on() {
    let config = "[dispatch]\nfirst_answer_timeout = \"20ms\"\n";
    let desk = Desk::open(&[("trackway.toml", config)]).await;
    let input = json!({ "entries": 1, "delayMs": 3_000 });
    let (events, told) = dispatched(&desk, "ledger", input).await;
    assert_eq!((&told["outcome"], &told["result"]), (&json!("timeout"), &json!([])));
    assert!(told["message"].as_str().unwrap().contains("goes on"), "{told}");
    assert_eq!(references(&events).len(), 1);
    let task = child(&events, 0);
    let rest = desk.server.agent("ledger").subscribe(&task, Some(0)).await.rest().await;
    assert_eq!(state(&rest), "completed");
}

/// Proves D1, D7: arguments that do not fit make no child, and the field is named.
#[tokio::test]
async fn wrong_arguments_start_nothing() {
    let desk = Desk::open(&[]).await;
    desk.calls(&[
        ("c1", "dispatch_workflow_echo", json!({ "text": 5 })),
        ("c2", "dispatch_workflow_invest", json!({})),
        ("c3", "dispatch_workflow_nothing", json!({})),
    ]);
    desk.says("Sorry.");
    let events = desk.turn(&text("Go.")).await;
    assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "Sorry."));
    assert_eq!(references(&events), [] as [Value; 0]);
    for (call, field) in [("c1", "text"), ("c2", "walletAddress"), ("c3", "nothing")] {
        let told = desk.result(1, call);
        assert!(told.to_string().contains(field), "{told}");
    }
    let response = desk.server.http().get(desk.server.url("/api/runs")).send().await.unwrap();
    let runs: Value = response.json().await.unwrap();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(1), "the turn alone: {runs}");
}
