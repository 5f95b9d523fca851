//! Models that break off, and turns that are canceled.

use serde_json::json;
use trackway_testkit::{ModelServer, Reply};

use super::desk::{Desk, child, chunks, shown, spoken, state, why};
use crate::a2a::support::text;

/// Proves X5: three attempts, then the turn has failed and says why.
#[tokio::test]
async fn a_model_that_never_answers_fails_the_turn() {
    let desk = Desk::open(&[]).await;
    desk.model.queue(ModelServer::openai().says("Not whole").unfinished().cut());
    desk.model.queue(Reply::refusal(503, "the model is overloaded"));
    desk.model.queue(Reply::refusal(503, "the model is overloaded"));
    let events = desk.turn(&text("Hello.")).await;
    assert_eq!(state(&events), "failed");
    let why = why(&events.last().unwrap().result["status"]);
    assert!(why.contains("overloaded") && why.contains("openai/small"), "{why}");
    assert_eq!(desk.model.asked().len(), 3);
    let task = desk.front().get(&events[0].result).await;
    assert!(!task["artifacts"].to_string().contains("Not"), "nothing of it stays: {task}");
    // The conversation goes on.
    desk.says("Here I am.");
    let next = desk.turn(&text("Still there?").within(&task["contextId"])).await;
    assert_eq!(spoken(&next), "Here I am.");
}

/// Proves X5: text of an attempt that broke off is replaced.
#[tokio::test]
async fn text_of_a_broken_attempt_is_replaced() {
    let desk = Desk::open(&[]).await;
    desk.model.queue(ModelServer::openai().says("A wrong start").unfinished().cut());
    desk.says("The right answer.");
    let events = desk.turn(&text("Hello.")).await;
    assert_eq!(state(&events), "completed");
    let chunks = chunks(&events, "text-response");
    let begins: Vec<usize> =
        chunks.iter().enumerate().filter(|(_, chunk)| !chunk.0).map(|(at, _)| at).collect();
    // The last one closes the text as a whole.
    assert_eq!(begins.len(), 3, "it begins anew: {chunks:?}");
    assert_eq!(spoken(&events), "The right answer.");
    let task = desk.front().get(&events[0].result).await;
    assert_eq!(
        task["artifacts"][0]["parts"],
        json!([{ "kind": "text", "text": "The right answer." }])
    );
    assert_eq!(desk.model.asked().len(), 2);
}

/// Proves L10, L17: a canceled turn lets go of its model, and its children end with it.
#[tokio::test]
async fn a_canceled_turn_leaves_nothing_behind() {
    let config = "[dispatch]\nfirst_answer_timeout = \"20ms\"\n";
    let desk = Desk::open(&[("trackway.toml", config)]).await;
    let input = json!({ "entries": 1, "delayMs": 3_600_000 });
    desk.calls(&[("c1", "dispatch_workflow_ledger", input)]);
    desk.model.queue(ModelServer::openai().says("I wait ").unfinished().stay());
    let params = json!({ "message": text("Go.").json() });
    let mut stream = desk.front().open("message/stream", params, None).await;
    let mut events = stream.until(|event| event["artifact"]["artifactId"] == "text-response").await;
    let task = events[0].result.clone();
    let canceled = desk.front().cancel(&task).await.unwrap();
    assert_eq!(canceled["status"]["state"], "canceled");
    desk.model.dropped().await;
    events.extend(stream.rest().await);
    assert_eq!(state(&events), "canceled");
    let late = desk.server.agent("ledger").subscribe(&child(&events, 0), Some(0)).await;
    assert_eq!(state(&late.rest().await), "canceled");
    assert_eq!(desk.model.asked().len(), 2, "nobody asks again");
    assert_eq!(desk.front().cancel(&task).await.unwrap_err().code, -32002);
    assert!(shown(&events).contains(&"tool-result-dispatch_workflow_ledger".to_owned()));
}

/// Proves L10: a turn that waits for its user, for a tool, or for the next attempt is
/// canceled like any other.
#[tokio::test]
async fn a_turn_is_canceled_wherever_it_is() {
    let agent = "---\nname: careful\ntools: [ledger_enter, time_now]\n\
                 approvals: { time_now: ask }\n---\n";
    let desk = Desk::open(&[("agents/careful.md", agent)]).await;
    let front = desk.front();
    let slow = json!({ "entry": "never", "delayMs": 3_600_000 });
    for call in [("c1", "time_now", json!({})), ("c1", "ledger_enter", slow)] {
        let asked = desk.model.asked().len();
        desk.calls(&[call]);
        let task = front.send(&text("Go.")).await.unwrap();
        let mut stream = front.subscribe(&task, Some(0)).await;
        stream.until(|event| event["artifact"]["metadata"]["toolCallId"] == "c1").await;
        assert_eq!(front.cancel(&task).await.unwrap()["status"]["state"], "canceled");
        assert_eq!(state(&stream.rest().await), "canceled");
        assert_eq!(desk.model.asked().len(), asked + 1);
    }
    desk.model.queue(Reply::refusal(503, "busy").header("retry-after", "5"));
    let task = front.send(&text("Go.")).await.unwrap();
    desk.model.until_served(3).await;
    assert_eq!(front.cancel(&task).await.unwrap()["status"]["state"], "canceled");
    let events = front.replay(&task).await;
    assert_eq!(state(&events), "canceled");
    assert_eq!(desk.model.asked().len(), 3);
    // All of it is remembered as what it was.
    desk.says("You canceled it.");
    let next = desk.turn(&text("What happened?").within(&task["contextId"])).await;
    assert_eq!(spoken(&next), "You canceled it.");
}
