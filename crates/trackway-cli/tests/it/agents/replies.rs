//! A user's message in a conversation may answer a question of a task that the conversation started, or an
//! approval of the agent itself.

use std::fs;

use serde_json::{Value, json};
use trackway_testkit::ScriptedModelServer;

use super::agent_workspace::{
    AgentWorkspace, dispatched_task, joined_text_response, last_state, message_in_context_of,
};
use crate::a2a::support::{StreamEvent, data_message, text_message};

/// A turn that leaves a review waiting.
async fn asking(desk: &AgentWorkspace) -> (Vec<StreamEvent>, Value) {
    desk.queue_tool_calls(&[("c", "dispatch_workflow_review", json!({ "subject": "tea" }))]);
    desk.queue_text("It waits for you.");
    let events = desk.run_turn(&text_message("Review it.")).await;
    let task = dispatched_task(&events, 0);
    let mut waiting = desk.server.agent("review").subscribe(&task, Some(0)).await;
    waiting.read_until(|event| event["status"]["state"] == "input-required").await;
    (events, task)
}

/// Proves D5: a client that knows only the agent finds its child there, and answers it there.
#[tokio::test]
async fn a_child_is_found_where_its_parent_is() {
    let desk = AgentWorkspace::open(&[]).await;
    let (_, task) = asking(&desk).await;
    assert_eq!(desk.default_agent().get_task(&task).await["status"]["state"], "input-required");
    let answered = desk.run_turn(&data_message(json!({ "confirmed": true })).for_task(&task)).await;
    assert_eq!(last_state(&answered), "completed");
    assert_eq!(answered[0].result["id"], task["id"]);
    let elsewhere = desk.server.agent("echo").call("tasks/get", json!({ "id": task["id"] })).await;
    assert_eq!(elsewhere.unwrap_err().code, -32001);
}

/// Proves X2, D6: a fork of a turn that delivered a reply has that message, and asks no one again.
#[tokio::test]
async fn a_fork_of_a_reply_has_its_answer() {
    let desk = AgentWorkspace::open(&[]).await;
    let (first, _) = asking(&desk).await;
    desk.queue_text("Confirmed.");
    let events = desk.run_turn(&text_message("Yes.").in_context(&first[0].result["contextId"])).await;
    let turn = events[0].result["id"].as_str().unwrap().to_owned();
    let fork = desk.server.http().post(desk.server.url(&format!("/api/runs/{turn}/fork")));
    let fork: Value = fork.json(&json!({})).send().await.unwrap().json().await.unwrap();
    let whole = desk.default_agent().subscribe(&fork, Some(0)).await.read_to_end().await;
    assert_eq!(
        (last_state(&whole).as_str(), joined_text_response(&whole).as_str()),
        ("completed", "Confirmed.")
    );
    assert_eq!(desk.model.requests().len(), 3, "what was answered is not asked for again");
}

const CAREFUL: &str = "---\nname: careful\ntools: [ledger_enter]\n\
approvals: { ledger_enter: ask }\n---\nBe careful.\n";
const OTHER: &str = "---\nname: other\n---\nHelp.\n";

/// Proves X6: another agent of the session, and a model in it that answers for the user, cannot approve a
/// call. The user can, through any agent.
#[tokio::test]
async fn a_model_of_another_agent_does_not_approve_calls() {
    let desk = AgentWorkspace::open(&[("agents/careful.md", CAREFUL), ("agents/other.md", OTHER)]).await;
    desk.queue_tool_calls(&[("c1", "ledger_enter", json!({ "entry": "tea" }))]);
    let careful = desk.server.agent("careful");
    let asking = careful.stream_message(&text_message("Write tea.")).await;
    assert_eq!(last_state(&asking), "input-required");
    let task = &asking[0].result;

    let yes = json!({ "taskId": task["id"], "input": { "approved": true } });
    desk.queue_tool_calls(&[("c2", "answer_task", yes)]);
    desk.queue_text("I could not.");
    let other = desk.server.agent("other");
    let events = other.stream_message(&message_in_context_of(task, "What will be written?")).await;
    assert_eq!(joined_text_response(&events), "I could not.");
    let told = desk.tool_result(2, "c2");
    assert!(told.as_str().unwrap().contains("waits for an answer"), "{told}");
    assert!(!desk.model_messages(1)[0]["content"].to_string().contains("ledger_enter"));
    let ledger = desk.server.data_path().join("ledger.txt");
    assert!(!ledger.exists(), "nothing was called");

    desk.model.set_responder(|_| ScriptedModelServer::openai_reply().with_text("Done.").into());
    other.stream_message(&message_in_context_of(task, "yes")).await;
    assert_eq!(last_state(&careful.subscribe(task, Some(0)).await.read_to_end().await), "completed");
    assert_eq!(fs::read_to_string(ledger).unwrap().lines().count(), 1);
}

/// Issue 11, A11: while an agent's own approval is open, text in the conversation goes to the model, and the
/// approval stays open. What fits the approval answers it.
#[tokio::test]
async fn text_beside_an_agents_own_approval_goes_to_the_model() {
    let desk = AgentWorkspace::open(&[("agents/careful.md", CAREFUL)]).await;
    let careful = desk.server.agent("careful");
    desk.queue_tool_calls(&[("c1", "ledger_enter", json!({ "entry": "tea" }))]);
    let asking = careful.stream_message(&text_message("Write tea.")).await;
    assert_eq!(last_state(&asking), "input-required");
    let task = &asking[0].result;

    desk.queue_text("It is about an entry.");
    let beside = careful.stream_message(&message_in_context_of(task, "what is this about?")).await;
    assert_eq!(
        (last_state(&beside).as_str(), joined_text_response(&beside).as_str()),
        ("completed", "It is about an entry.")
    );
    assert_ne!(beside[0].result["id"], task["id"], "a turn of its own");
    let heard = desk.model.requests().last().unwrap().body["messages"].to_string();
    assert!(heard.contains("what is this about?"), "{heard}");
    assert_eq!(careful.get_task(task).await["status"]["state"], "input-required");
    let ledger = desk.server.data_path().join("ledger.txt");
    assert!(!ledger.exists(), "nothing was called");

    desk.queue_text("It is written.");
    let approved = data_message(json!({ "approved": true })).in_context(&task["contextId"]);
    let rest = careful.stream_message(&approved).await;
    assert_eq!(
        (last_state(&rest).as_str(), joined_text_response(&rest).as_str()),
        ("completed", "It is written.")
    );
    assert_eq!(rest[0].result["id"], task["id"]);
    assert_eq!(fs::read_to_string(ledger).unwrap().lines().count(), 1);
}
