//! The same agent over HTTP+JSON, and without a stream.

use serde_json::{Value, json};

use super::desk::Desk;
use crate::a2a::support::text;

fn said(task: &Value) -> String {
    let artifacts = task["artifacts"].as_array().unwrap();
    let found = artifacts.iter().find(|artifact| artifact["artifactId"] == "text-response");
    let parts = found.unwrap_or_else(|| panic!("{task}"))["parts"].as_array().unwrap();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// Proves X1: a blocking send has the whole turn in its task.
#[tokio::test]
async fn a_blocking_send_has_the_whole_turn() {
    let desk = Desk::open(&[]).await;
    desk.calls(&[("c1", "dispatch_workflow_echo", json!({ "text": "hi" }))]);
    desk.says("Well done.");
    let task = desk.front().settle(&text("Go.")).await.unwrap();
    assert_eq!(task["status"]["state"], "completed");
    assert_eq!(said(&task), "Well done.");
    let ids: Vec<&Value> =
        task["artifacts"].as_array().unwrap().iter().map(|it| &it["artifactId"]).collect();
    assert_eq!(
        ids,
        ["tool-call-dispatch_workflow_echo", "tool-result-dispatch_workflow_echo", "text-response"]
    );
    let history = task["history"].to_string();
    assert!(history.contains("referenceTaskIds"), "{history}");
}

/// Proves X1: HTTP+JSON has the agent too.
#[tokio::test]
async fn http_and_json_have_the_agent_too() {
    let desk = Desk::open(&[]).await;
    desk.says("Over HTTP.");
    let message = json!({ "role": "ROLE_USER", "messageId": "m1", "parts": [{ "text": "Go." }] });
    let request = desk.server.http().post(desk.server.url("/a2a/rest/message:send"));
    let request = request.header("a2a-version", "1.0").json(&json!({ "message": message }));
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
    assert_eq!(said(&answer["task"]), "Over HTTP.");
}
