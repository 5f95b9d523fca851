//! Turns that go another way than most: canceled ones, canceled children, many at once.

use serde_json::{Value, json};
use tokio::task::JoinSet;
use trackway_testkit::{ModelServer, Reply};

use super::desk::{Desk, calling, child, spoken, state};
use crate::a2a::support::{Server, text};

async fn runs(server: &Server) -> Vec<Value> {
    let response = server.http().get(server.url("/api/runs")).send().await.unwrap();
    let runs: Value = response.json().await.unwrap();
    runs["runs"].as_array().unwrap_or_else(|| panic!("{runs}")).clone()
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

/// Proves D3: how long a first answer is waited for is the workspace's; a workflow that says nothing until
/// then is told to be late, and goes on.
#[tokio::test]
async fn the_workspace_limits_the_wait_for_a_first_answer() {
    let config = "[dispatch]\nfirst_answer_timeout = \"20ms\"\n";
    let desk = Desk::open(&[("trackway.toml", config)]).await;
    desk.calls(&[("c", "dispatch_workflow_ledger", json!({ "entries": 1, "delayMs": 3_000 }))]);
    desk.says("So it is.");
    let events = desk.turn(&text("Go.")).await;
    assert_eq!(state(&events), "completed");
    let (told, task) = (desk.result(1, "c"), child(&events, 0));
    assert_eq!((&told["outcome"], &told["taskId"]), (&json!("timeout"), &task["id"]), "{told}");
    let rest = desk.server.agent("ledger").subscribe(&task, Some(0)).await.rest().await;
    assert_eq!(state(&rest), "completed");
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
