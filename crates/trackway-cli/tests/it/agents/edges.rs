//! Turns that go another way than most: broken calls, canceled children, clocks that run out, many at
//! once.

use serde_json::{Value, json};
use tokio::task::JoinSet;
use trackway_testkit::{ModelServer, Reply};

use super::desk::{Desk, calling, child, references, shown, spoken, state};
use crate::a2a::support::{Server, data, text};

async fn runs(server: &Server) -> Vec<Value> {
    let response = server.http().get(server.url("/api/runs")).send().await.unwrap();
    let runs: Value = response.json().await.unwrap();
    runs["runs"].as_array().unwrap_or_else(|| panic!("{runs}")).clone()
}

/// Proves D3, D6: the first act of `approve` is a question, and a no is a rejection.
#[tokio::test]
async fn an_approval_asks_first_and_a_no_rejects() {
    let desk = Desk::open(&[]).await;
    desk.calls(&[("c1", "dispatch_workflow_approve", json!({ "subject": "tea" }))]);
    desk.says("Do you?");
    let events = desk.turn(&text("Get approval.")).await;
    let told = desk.result(1, "c1");
    assert_eq!(told["outcome"], "input-required", "{told}");
    assert_eq!(told["schema"]["properties"]["approved"]["type"], "boolean");
    desk.says("Then not.");
    let no = data(json!({ "approved": false })).within(&events[0].result["contextId"]);
    assert_eq!(spoken(&desk.turn(&no).await), "Then not.");
    let told = desk.result(2, "reply");
    assert_eq!(
        (&told["outcome"], &told["message"]),
        (&json!("rejected"), &json!("It was not approved"))
    );
    let task = desk.server.agent("approve").get(&child(&events, 0)).await;
    assert_eq!(task["status"]["state"], "rejected");
}

/// Proves D3: a child that somebody cancels before it has said anything is told at once.
#[tokio::test]
async fn a_canceled_child_is_told() {
    let config = "[dispatch]\nfirst_answer_timeout = \"1h\"\n";
    let desk = Desk::open(&[("trackway.toml", config)]).await;
    let input = json!({ "entries": 1, "delayMs": 3_600_000 });
    desk.calls(&[("c1", "dispatch_workflow_ledger", input)]);
    desk.says("Somebody stopped it.");
    let task = desk.front().send(&text("Go.")).await.unwrap();
    let mut stream = desk.front().subscribe(&task, Some(0)).await;
    stream.until(|event| event["artifact"]["name"] == "tool-call-dispatch_workflow_ledger").await;
    let child = loop {
        let runs = runs(&desk.server).await;
        if let Some(run) = runs.iter().find(|run| run["workflow"].to_string().contains("ledger")) {
            break json!({ "id": run["id"] });
        }
        tokio::task::yield_now().await;
    };
    desk.server.agent("ledger").cancel(&child).await.unwrap();
    let events = stream.rest().await;
    assert_eq!(
        (state(&events).as_str(), spoken(&events).as_str()),
        ("completed", "Somebody stopped it.")
    );
    let told = desk.result(1, "c1");
    assert_eq!((&told["outcome"], &told["taskId"]), (&json!("failed"), &child["id"]));
}

/// Proves D7: calls that cannot be made are answered one by one, and the turn goes on.
#[tokio::test]
async fn broken_calls_are_told_and_the_turn_goes_on() {
    let agent = "---\nname: helper\ntools: [time_now]\n---\n";
    let desk = Desk::open(&[("agents/helper.md", agent)]).await;
    let calls = [
        ("c1", "time_now", ""),
        ("c2", "dispatch_workflow_echo", "{\"text\": \"cut o"),
        ("c3", "time_now", "{\"zone\": 1}"),
        ("c4", "time_now", "{}"),
    ];
    desk.model.queue(ModelServer::openai().calls(&calls));
    desk.says("Well.");
    let events = desk.turn(&text("Go.")).await;
    assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "Well."));
    assert!(desk.result(1, "c1")["now"].is_string(), "no arguments are none");
    assert!(desk.result(1, "c2").to_string().contains("JSON"));
    let told = desk.result(1, "c3");
    assert!(told.to_string().contains("zone"), "{told}");
    assert!(desk.result(1, "c4")["now"].is_string());
    assert_eq!(references(&events), [] as [Value; 0]);
    assert_eq!(shown(&events).len(), 9, "four calls, four results, one text: {:?}", shown(&events));
}

/// Proves X5: time and tokens are bounds too, and the turn says which was reached.
#[tokio::test]
async fn time_and_tokens_end_a_turn() {
    let agent = "---\nname: helper\ntools: [time_now]\nbudgets: { seconds: 1 }\n---\n";
    let frugal = "---\nname: frugal\ntools: [time_now]\nbudgets: { tokens: 20 }\n---\n";
    let files = [
        ("agents/helper.md", agent),
        ("agents/frugal.md", frugal),
        ("trackway.toml", "[defaults]\nagent = \"helper\"\n"),
    ];
    let desk = Desk::open(&files).await;
    desk.model.queue(ModelServer::openai().says("Let me ").unfinished().stay());
    let events = desk.turn(&text("Go.")).await;
    assert_eq!(state(&events), "completed");
    assert!(spoken(&events).contains("1 seconds"), "{}", spoken(&events));
    desk.model.dropped().await;
    desk.model.respond(|_| calling(&[("c", "time_now", json!({}))]));
    let events = desk.server.agent("frugal").stream(&text("Go.")).await;
    assert_eq!(state(&events), "completed");
    assert!(spoken(&events).contains("20 tokens"), "{}", spoken(&events));
    assert_eq!(desk.model.asked().len(), 3, "15 tokens each, so the second passes the bound");
}

/// Proves D1: a name that models do not take is made one that they do.
#[tokio::test]
async fn a_workflow_with_a_dotted_name_is_dispatched() {
    let flow = "id: my.small-flow\nname: Small\ndescription: Emits.\nversion: \"1\"\n\
                steps:\n  - id: out\n    emit: { artifact: out.txt, text: \"Here.\" }\n";
    let desk = Desk::open(&[("workflows/small.yaml", flow)]).await;
    desk.calls(&[("c1", "dispatch_workflow_my_small-flow", json!({}))]);
    desk.says("Done.");
    let events = desk.turn(&text("Go.")).await;
    let told = desk.result(1, "c1");
    assert_eq!(told["metadata"]["workflowName"], "my.small-flow", "{told}");
    let task = desk.server.agent("my.small-flow").get(&child(&events, 0)).await;
    assert_eq!(task["status"]["state"], "completed");
}

/// The model says what the user said last, and dispatches it first.
fn echoing(told: &Value) -> Reply {
    let messages = told["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    match last["role"].as_str() {
        Some("user") => {
            calling(&[("c", "dispatch_workflow_echo", json!({ "text": last["content"] }))])
        }
        _ => {
            let said = messages.iter().rfind(|message| message["role"] == "user").unwrap();
            ModelServer::openai().says(said["content"].as_str().unwrap()).into()
        }
    }
}

/// Proves X4: many conversations at once, and several turns of one, do not mix.
#[tokio::test(flavor = "multi_thread")]
async fn many_turns_at_once_do_not_mix() {
    let desk = Desk::open(&[]).await;
    desk.model.respond(|asked| echoing(&asked.body));
    let mut turns = JoinSet::new();
    for number in 0..24 {
        let front = desk.front();
        turns.spawn(async move {
            let said = format!("number-{number}");
            let message = text(&said);
            let message = if number % 2 == 0 { message } else { message.within(&json!("shared")) };
            let events = front.stream(&message).await;
            assert_eq!((state(&events).as_str(), spoken(&events)), ("completed", said));
            child(&events, 0)["id"].to_string()
        });
    }
    let mut children = turns.join_all().await;
    children.sort();
    children.dedup();
    assert_eq!(children.len(), 24);
    assert_eq!(desk.model.asked().len(), 48);
}
