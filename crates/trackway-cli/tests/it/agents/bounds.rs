//! Approvals and budgets of an agent's file.

use std::fs;

use serde_json::json;

use super::desk::{Desk, calling, spoken, state, why};
use crate::a2a::support::{data, text};

const CAREFUL: &str = "---\nname: careful\ntools: [ledger_enter, time_now]\n\
approvals: { ledger_enter: ask, time_now: deny, dispatch_workflow_echo: ask }\n---\nBe careful.\n";

fn ledger(desk: &Desk) -> usize {
    let text = fs::read_to_string(desk.server.data().join("ledger.txt")).unwrap_or_default();
    text.lines().count()
}

/// Proves D7: the question shows tool and arguments, its answer resumes the same task, and a
/// restart in between changes nothing.
#[tokio::test]
async fn a_call_is_made_when_the_user_agrees() {
    let mut desk = Desk::open(&[("agents/careful.md", CAREFUL)]).await;
    desk.calls(&[("c1", "ledger_enter", json!({ "entry": "tea" }))]);
    desk.says("It is written.");
    let events = desk.turn(&text("Write tea.")).await;
    assert_eq!(state(&events), "input-required");
    let task = &events[0].result;
    let status = &events.last().unwrap().result["status"];
    let asked = why(status);
    assert!(asked.contains("ledger_enter") && asked.contains("tea"), "{asked}");
    let schema = &status["message"]["parts"][0]["metadata"]["schema"];
    assert_eq!(schema["required"], json!(["approved"]), "{status}");
    assert_eq!(schema["properties"]["approved"]["type"], "boolean");
    assert_eq!(ledger(&desk), 0, "nothing is done before");
    desk.server.crash();
    let ended = desk.front().settle(&data(json!({ "approved": true })).to(task)).await.unwrap();
    assert_eq!((&ended["id"], ended["status"]["state"].as_str()), (&task["id"], Some("completed")));
    assert_eq!(ledger(&desk), 1);
    assert!(desk.result(1, "c1")["idempotencyKey"].is_string());
    assert_eq!(desk.model.asked().len(), 2, "no model call is made twice");
    let tools = desk.model.asked()[0].body["tools"].to_string();
    assert!(!tools.contains("time_now"), "what is never called is not offered: {tools}");
}

/// Proves X5: a model that goes round in circles is stopped by its budget, and the turn says so.
#[tokio::test]
async fn a_budget_ends_the_turn_with_a_message() {
    let agent = "---\nname: busy\ntools: [time_now]\nbudgets: { calls: 3 }\n---\n";
    let desk = Desk::open(&[("agents/busy.md", agent)]).await;
    desk.model.respond(|_| calling(&[("c", "time_now", json!({}))]));
    let events = desk.turn(&text("What time is it?")).await;
    assert_eq!(state(&events), "completed");
    assert!(spoken(&events).contains("3 model calls"), "{}", spoken(&events));
    assert_eq!(desk.model.asked().len(), 3);
}
