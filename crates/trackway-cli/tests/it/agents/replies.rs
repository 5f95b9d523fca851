//! What a user says in a conversation may answer a question of a task that it has started, or an
//! approval of the agent itself.

use std::fs;

use serde_json::{Value, json};
use trackway_testkit::ModelServer;

use super::desk::{Desk, after, child, spoken, state};
use crate::a2a::support::{Event, data, text};

/// A turn that leaves a review waiting.
async fn asking(desk: &Desk) -> (Vec<Event>, Value) {
    desk.calls(&[("c", "dispatch_workflow_review", json!({ "subject": "tea" }))]);
    desk.says("It waits for you.");
    let events = desk.turn(&text("Review it.")).await;
    let task = child(&events, 0);
    let mut waiting = desk.server.agent("review").subscribe(&task, Some(0)).await;
    waiting.until(|event| event["status"]["state"] == "input-required").await;
    (events, task)
}

/// Proves D5: a client that knows the agent alone finds its child there, and answers it there.
#[tokio::test]
async fn a_child_is_found_where_its_parent_is() {
    let desk = Desk::open(&[]).await;
    let (_, task) = asking(&desk).await;
    assert_eq!(desk.front().get(&task).await["status"]["state"], "input-required");
    let answered = desk.turn(&data(json!({ "confirmed": true })).to(&task)).await;
    assert_eq!(state(&answered), "completed");
    assert_eq!(answered[0].result["id"], task["id"]);
    let elsewhere = desk.server.agent("echo").call("tasks/get", json!({ "id": task["id"] })).await;
    assert_eq!(elsewhere.unwrap_err().code, -32001);
}

/// Proves X2, D6: a fork of a turn that brought a reply has what was said to it, and asks nobody again.
#[tokio::test]
async fn a_fork_of_a_reply_has_its_answer() {
    let desk = Desk::open(&[]).await;
    let (first, _) = asking(&desk).await;
    desk.says("Confirmed.");
    let events = desk.turn(&text("Yes.").within(&first[0].result["contextId"])).await;
    let turn = events[0].result["id"].as_str().unwrap().to_owned();
    let fork = desk.server.http().post(desk.server.url(&format!("/api/runs/{turn}/fork")));
    let fork: Value = fork.json(&json!({})).send().await.unwrap().json().await.unwrap();
    let whole = desk.front().subscribe(&fork, Some(0)).await.rest().await;
    assert_eq!((state(&whole).as_str(), spoken(&whole).as_str()), ("completed", "Confirmed."));
    assert_eq!(desk.model.asked().len(), 3, "what was answered is not asked for again");
}

const CAREFUL: &str = "---\nname: careful\ntools: [ledger_enter]\n\
approvals: { ledger_enter: ask }\n---\nBe careful.\n";
const OTHER: &str = "---\nname: other\n---\nHelp.\n";

/// Proves X6: another agent of the session, and a model in it that answers for the user, does not get a
/// call approved. The user does, whichever agent they say it to.
#[tokio::test]
async fn a_model_of_another_agent_does_not_approve_calls() {
    let desk = Desk::open(&[("agents/careful.md", CAREFUL), ("agents/other.md", OTHER)]).await;
    desk.calls(&[("c1", "ledger_enter", json!({ "entry": "tea" }))]);
    let careful = desk.server.agent("careful");
    let asking = careful.stream(&text("Write tea.")).await;
    assert_eq!(state(&asking), "input-required");
    let task = &asking[0].result;

    let yes = json!({ "taskId": task["id"], "input": { "approved": true } });
    desk.calls(&[("c2", "answer_task", yes)]);
    desk.says("I could not.");
    let other = desk.server.agent("other");
    let events = other.stream(&after(task, "What will be written?")).await;
    assert_eq!(spoken(&events), "I could not.");
    let told = desk.result(2, "c2");
    assert!(told.as_str().unwrap().contains("waits for an answer"), "{told}");
    assert!(!desk.told(1)[0]["content"].to_string().contains("ledger_enter"));
    let ledger = desk.server.data().join("ledger.txt");
    assert!(!ledger.exists(), "nothing was called");

    desk.model.respond(|_| ModelServer::openai().says("Done.").into());
    other.stream(&after(task, "yes")).await;
    assert_eq!(state(&careful.subscribe(task, Some(0)).await.rest().await), "completed");
    assert_eq!(fs::read_to_string(ledger).unwrap().lines().count(), 1);
}

/// Issue 11, A11: while an agent's own approval is open, text in the conversation goes to the model, and the
/// approval stays open. What fits the approval answers it.
#[tokio::test]
async fn text_beside_an_agents_own_approval_goes_to_the_model() {
    let desk = Desk::open(&[("agents/careful.md", CAREFUL)]).await;
    let careful = desk.server.agent("careful");
    desk.calls(&[("c1", "ledger_enter", json!({ "entry": "tea" }))]);
    let asking = careful.stream(&text("Write tea.")).await;
    assert_eq!(state(&asking), "input-required");
    let task = &asking[0].result;

    desk.says("It is about an entry.");
    let beside = careful.stream(&after(task, "what is this about?")).await;
    assert_eq!(
        (state(&beside).as_str(), spoken(&beside).as_str()),
        ("completed", "It is about an entry.")
    );
    assert_ne!(beside[0].result["id"], task["id"], "a turn of its own");
    let heard = desk.model.asked().last().unwrap().body["messages"].to_string();
    assert!(heard.contains("what is this about?"), "{heard}");
    assert_eq!(careful.get(task).await["status"]["state"], "input-required");
    let ledger = desk.server.data().join("ledger.txt");
    assert!(!ledger.exists(), "nothing was called");

    desk.says("It is written.");
    let approved = data(json!({ "approved": true })).within(&task["contextId"]);
    let rest = careful.stream(&approved).await;
    assert_eq!((state(&rest).as_str(), spoken(&rest).as_str()), ("completed", "It is written."));
    assert_eq!(rest[0].result["id"], task["id"]);
    assert_eq!(fs::read_to_string(ledger).unwrap().lines().count(), 1);
}
