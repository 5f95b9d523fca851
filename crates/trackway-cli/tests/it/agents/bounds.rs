//! Approvals and budgets of an agent's file.

use std::fs;

use serde_json::json;

use super::agent_workspace::{
    AgentWorkspace, joined_text_response, last_state, status_text, tool_call_reply,
};
use crate::a2a::support::{data_message, text_message};

const CAREFUL: &str = "---\nname: careful\ntools: [ledger_enter, time_now]\n\
approvals: { ledger_enter: ask, time_now: deny, dispatch_workflow_echo: ask }\n---\nBe careful.\n";

fn ledger(desk: &AgentWorkspace) -> usize {
    let text = fs::read_to_string(desk.server.data_path().join("ledger.txt")).unwrap_or_default();
    text.lines().count()
}

/// Proves D7: the question shows tool and arguments, its answer resumes the same task, and a
/// restart in between changes nothing.
#[tokio::test]
async fn a_call_is_made_when_the_user_agrees() {
    let mut desk = AgentWorkspace::open(&[("agents/careful.md", CAREFUL)]).await;
    desk.queue_tool_calls(&[("c1", "ledger_enter", json!({ "entry": "tea" }))]);
    desk.queue_text("It is written.");
    let events = desk.run_turn(&text_message("Write tea.")).await;
    assert_eq!(last_state(&events), "input-required");
    let task = &events[0].result;
    let status = &events.last().unwrap().result["status"];
    let asked = status_text(status);
    assert!(asked.contains("ledger_enter") && asked.contains("tea"), "{asked}");
    let schema = &status["message"]["parts"][0]["metadata"]["schema"];
    assert_eq!(schema["required"], json!(["approved"]), "{status}");
    assert_eq!(schema["properties"]["approved"]["type"], "boolean");
    assert_eq!(ledger(&desk), 0, "nothing is done before");
    desk.server.crash();
    let ended = desk
        .default_agent()
        .send_and_wait(&data_message(json!({ "approved": true })).for_task(task))
        .await
        .unwrap();
    assert_eq!((&ended["id"], ended["status"]["state"].as_str()), (&task["id"], Some("completed")));
    assert_eq!(ledger(&desk), 1);
    assert!(desk.tool_result(1, "c1")["idempotencyKey"].is_string());
    assert_eq!(desk.model.requests().len(), 2, "no model call is made twice");
    let tools = desk.model.requests()[0].body["tools"].to_string();
    assert!(!tools.contains("time_now"), "what is never called is not offered: {tools}");
}

/// Proves X5: a model that calls tools for ever is stopped by its budget, and the turn says so.
#[tokio::test]
async fn a_budget_ends_the_turn_with_a_message() {
    let agent = "---\nname: busy\ntools: [time_now]\nbudgets: { calls: 3 }\n---\n";
    let desk = AgentWorkspace::open(&[("agents/busy.md", agent)]).await;
    desk.model.set_responder(|_| tool_call_reply(&[("c", "time_now", json!({}))]));
    let events = desk.run_turn(&text_message("What time is it?")).await;
    assert_eq!(last_state(&events), "completed");
    assert!(joined_text_response(&events).contains("3 model calls"), "{}", joined_text_response(&events));
    assert_eq!(desk.model.requests().len(), 3);
}
