//! `kill -9` in the middle of a turn: it goes on, and no model call that was answered is made again.

use std::fs;

use serde_json::{Value, json};
use trackway_testkit::{Latch, ModelServer, Names};

use super::desk::{Desk, calling, child, references, shown, spoken, state};
use crate::a2a::support::{Event, Message, text};

const AGENT: &str = "---\nname: helper\ntools: [ledger_enter]\n---\nYou help.\n";

/// Begins a turn and does not wait for it.
async fn begin(desk: &Desk, message: &Message) -> Value {
    desk.front().send(message).await.unwrap()
}

/// Everything that the turn ever showed, to its end.
async fn whole(desk: &Desk, task: &Value) -> Vec<Event> {
    desk.front().replay(task).await
}

fn first_calls(desk: &Desk) {
    desk.calls(&[
        ("c1", "dispatch_workflow_echo", json!({ "text": "one" })),
        ("c2", "ledger_enter", json!({ "entry": "tea" })),
    ]);
}

fn second_calls() -> trackway_testkit::Reply {
    calling(&[("c3", "dispatch_workflow_review", json!({ "subject": "tea" }))])
}

/// What the model was told last, without made ids and keys.
fn history(desk: &Desk) -> Value {
    let asked = desk.model.asked();
    let mut messages = Names::new().plain(&asked.last().unwrap().body["messages"]);
    for message in messages.as_array_mut().unwrap() {
        if message["content"].as_str().is_some_and(|text| text.contains("idempotencyKey")) {
            message["content"] = json!("<key>");
        }
    }
    messages
}

/// The same turn on a server that lives.
async fn undisturbed() -> Value {
    let desk = Desk::open(&[("agents/helper.md", AGENT)]).await;
    first_calls(&desk);
    desk.model.queue(second_calls());
    desk.says("All done.");
    let events = desk.turn(&text("Go.")).await;
    assert_eq!(spoken(&events), "All done.");
    history(&desk)
}

/// Proves L13, X4: killed while the model speaks, after the first calls were done.
#[tokio::test]
async fn killed_between_two_model_calls_a_turn_goes_on() {
    let mut desk = Desk::open(&[("agents/helper.md", AGENT)]).await;
    first_calls(&desk);
    let latch = Latch::new();
    desk.model.queue(second_calls().wait_first(&latch));
    let task = begin(&desk, &text("Go.")).await;
    desk.model.until_asked(2).await;
    latch.reached().await;
    desk.model.queue(second_calls());
    desk.says("All done.");
    desk.server.crash();
    let events = whole(&desk, &task).await;
    assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "All done."));
    let asked = desk.model.asked();
    assert_eq!(asked.len(), 4, "only the call that had no answer is made again");
    assert_eq!(asked[1].body, asked[2].body, "and it is the same");
    assert_eq!(references(&events).len(), 2, "each dispatch is told once");
    let ledger = fs::read_to_string(desk.server.data().join("ledger.txt")).unwrap();
    assert_eq!(ledger.lines().count(), 1, "{ledger}");
    assert_eq!(history(&desk), undisturbed().await);
}

/// Proves L13, X4: killed while text is streamed; what was shown of it is replaced.
#[tokio::test]
async fn killed_while_the_model_speaks_a_turn_speaks_anew() {
    let mut desk = Desk::open(&[("agents/helper.md", AGENT)]).await;
    desk.model.queue(ModelServer::openai().says("The first half ").unfinished().stay());
    let task = begin(&desk, &text("Go.")).await;
    let mut stream = desk.front().subscribe(&task, Some(0)).await;
    stream.until(|event| event["artifact"]["artifactId"] == "text-response").await;
    drop(stream);
    desk.says("The whole.");
    desk.server.crash();
    let events = whole(&desk, &task).await;
    assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "The whole."));
    let asked = desk.model.asked();
    assert_eq!((asked.len(), &asked[0].body), (2, &asked[1].body));
    let kept = desk.front().get(&task).await;
    assert_eq!(kept["artifacts"][0]["parts"], json!([{ "kind": "text", "text": "The whole." }]));
}

/// Proves D2, L13, X4: killed while a dispatched workflow has not answered yet; it is the same child.
#[tokio::test]
async fn killed_after_a_dispatch_a_turn_hears_the_same_child() {
    let config = "[dispatch]\nfirst_answer_timeout = \"1h\"\n";
    let files = [("agents/helper.md", AGENT), ("trackway.toml", config)];
    let mut desk = Desk::open(&files).await;
    let input = json!({ "entries": 1, "delayMs": 4_000 });
    desk.calls(&[("c1", "dispatch_workflow_ledger", input)]);
    desk.says("It is written.");
    let task = begin(&desk, &text("Go.")).await;
    let mut stream = desk.front().subscribe(&task, Some(0)).await;
    stream.until(|event| event["artifact"]["name"] == "tool-call-dispatch_workflow_ledger").await;
    drop(stream);
    desk.server.crash();
    let events = whole(&desk, &task).await;
    assert_eq!(
        (state(&events).as_str(), spoken(&events).as_str()),
        ("completed", "It is written.")
    );
    assert_eq!(desk.model.asked().len(), 2);
    assert_eq!(desk.result(1, "c1")["outcome"], "answered");
    assert_eq!(references(&events).len(), 1);
    let ended = desk.server.agent("ledger").subscribe(&child(&events, 0), Some(0)).await;
    assert_eq!(state(&ended.rest().await), "completed");
    let ledger = fs::read_to_string(desk.server.data().join("ledger.txt")).unwrap();
    assert_eq!(ledger.lines().count(), 1, "one child: {ledger}");
    assert_eq!(
        shown(&events),
        [
            "tool-call-dispatch_workflow_ledger",
            "tool-result-dispatch_workflow_ledger",
            "text-response"
        ]
    );
}
