//! What only people answer: whether a call may be made, and what they sign.

use std::fs;

use serde_json::json;

use super::desk::{Desk, after, child, spoken, state};
use crate::a2a::support::{data, text};

const CAREFUL: &str = "---\nname: careful\ntools: [ledger_enter]\n\
approvals: { ledger_enter: ask }\n---\nBe careful.\n";
const OTHER: &str = "---\nname: other\n---\nHelp.\n";

/// Proves X6: another turn of the session, and a model in it that answers for the user, does not
/// get a call approved. The user does.
#[tokio::test]
async fn a_model_does_not_approve_calls() {
    let desk = Desk::open(&[("agents/careful.md", CAREFUL), ("agents/other.md", OTHER)]).await;
    desk.calls(&[("c1", "ledger_enter", json!({ "entry": "tea" }))]);
    let asking = desk.server.agent("careful").stream(&text("Write tea.")).await;
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

    desk.model.respond(|_| trackway_testkit::ModelServer::openai().says("Done.").into());
    other.stream(&after(task, "yes")).await;
    let careful = desk.server.agent("careful");
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

/// Proves D5: a question to the agent is no signature, nor is any other sentence; `signature=…` is.
#[tokio::test]
async fn a_signature_is_given_and_not_said_by_the_way() {
    let desk = Desk::open(&[]).await;
    desk.calls(&[("c", "dispatch_workflow_invest", json!({ "walletAddress": "0x1" }))]);
    desk.says("It has a form.");
    let first = desk.turn(&text("Invest.")).await;
    let (invest, task) = (desk.server.agent("invest"), child(&first, 0));
    let mut waiting = invest.subscribe(&task, Some(0)).await;
    waiting.until(|event| event["status"]["state"] == "input-required").await;
    desk.says("Please sign.");
    let form = data(json!({ "walletAddress": "0x1", "amount": 7 }));
    desk.turn(&form.within(&first[0].result["contextId"])).await;

    for said in ["wait, how much is that in euros?", "Let me think about it"] {
        desk.says("It is your decision.");
        let events = desk.turn(&after(&first[0].result, said)).await;
        assert_eq!(spoken(&events), "It is your decision.");
        assert_eq!(invest.get(&task).await["status"]["state"], "auth-required", "{said}");
        let system = desk.model.asked().last().unwrap().body["messages"][0].to_string();
        assert!(system.contains("Please sign the investment of 7"), "{system}");
    }
    desk.says("It is signed.");
    let events = desk.turn(&after(&first[0].result, "signature=0xme")).await;
    assert_eq!(spoken(&events), "It is signed.");
    let rest = invest.subscribe(&task, Some(0)).await.rest().await;
    assert_eq!(state(&rest), "completed");
}

/// Issue 11, S-H5: a model does not sign in the user's place, nor does it fill in a form that the user has
/// not filled in.
#[tokio::test]
async fn a_model_does_not_sign() {
    let desk = Desk::open(&[]).await;
    desk.calls(&[("c1", "dispatch_workflow_invest", json!({ "walletAddress": "0x1" }))]);
    desk.says("It has a form.");
    let first = desk.turn(&text("invest please")).await;
    let (invest, task) = (desk.server.agent("invest"), child(&first, 0));
    let mut waiting = invest.subscribe(&task, Some(0)).await;
    waiting.until(|event| event["status"]["state"] == "input-required").await;

    let evil = json!({ "walletAddress": "0xEVIL", "amount": 1_000_000 });
    desk.calls(&[("c2", "answer_task", json!({ "taskId": task["id"], "input": evil }))]);
    desk.says("As you like.");
    let asked = desk.turn(&after(&first[0].result, "what is the weather")).await;
    assert_eq!(state(&asked), "input-required", "the user is asked first");
    desk.turn(&data(json!({ "approved": false })).to(&asked[0].result)).await;
    assert_eq!(invest.get(&task).await["status"]["state"], "input-required");

    desk.says("Please sign.");
    let form = data(json!({ "walletAddress": "0x1", "amount": 7 }));
    desk.turn(&form.within(&first[0].result["contextId"])).await;
    let forged = json!({ "taskId": task["id"], "input": { "signature": "forged by the model" } });
    desk.calls(&[("c3", "answer_task", forged)]);
    desk.says("I could not.");
    let events = desk.turn(&after(&first[0].result, "and tomorrow?")).await;
    assert_eq!(spoken(&events), "I could not.");
    assert_eq!(invest.get(&task).await["status"]["state"], "auth-required");
    let told = desk.result(desk.model.asked().len() - 1, "c3");
    assert!(told.to_string().contains("person-required"), "{told}");
}
