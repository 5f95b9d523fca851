//! Unusual turns: canceled ones, canceled children, many at once.

use serde_json::{Value, json};
use tokio::task::JoinSet;
use trackway_testkit::{ScriptedModelServer, ScriptedReply};

use super::agent_workspace::{
    AgentWorkspace, dispatched_task, joined_text_response, last_state, tool_call_reply,
};
use crate::a2a::support::{CrashableServer, text_message};

async fn runs(server: &CrashableServer) -> Vec<Value> {
    let response = server.http().get(server.url("/api/runs")).send().await.unwrap();
    let runs: Value = response.json().await.unwrap();
    runs["runs"].as_array().unwrap_or_else(|| panic!("{runs}")).clone()
}

/// Proves D3: a child that is canceled before its first message is reported immediately.
#[tokio::test]
async fn a_canceled_child_is_told() {
    let config = "[dispatch]\nfirst_answer_timeout = \"1h\"\n";
    let desk = AgentWorkspace::open(&[("trackway.toml", config)]).await;
    let input = json!({ "entries": 1, "delayMs": 3_600_000 });
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_ledger", input)]);
    desk.queue_text("Somebody stopped it.");
    let task = desk.default_agent().send(&text_message("Go.")).await.unwrap();
    let mut stream = desk.default_agent().subscribe(&task, Some(0)).await;
    stream.read_until(|event| event["artifact"]["name"] == "tool-call-dispatch_workflow_ledger").await;
    let child = loop {
        let runs = runs(&desk.server).await;
        if let Some(run) = runs.iter().find(|run| run["workflow"].to_string().contains("ledger")) {
            break json!({ "id": run["id"] });
        }
        tokio::task::yield_now().await;
    };
    desk.server.agent("ledger").cancel_task(&child).await.unwrap();
    let events = stream.read_to_end().await;
    assert_eq!(
        (last_state(&events).as_str(), joined_text_response(&events).as_str()),
        ("completed", "Somebody stopped it.")
    );
    let told = desk.tool_result(1, "c1");
    assert_eq!((&told["outcome"], &told["taskId"]), (&json!("failed"), &child["id"]));
}

/// Proves D3: the workspace sets how long a turn waits for a first answer. A workflow without an answer
/// until then is reported as late, and continues.
#[tokio::test]
async fn the_workspace_limits_the_wait_for_a_first_answer() {
    let config = "[dispatch]\nfirst_answer_timeout = \"20ms\"\n";
    let desk = AgentWorkspace::open(&[("trackway.toml", config)]).await;
    desk.queue_tool_calls(&[("c", "dispatch_workflow_ledger", json!({ "entries": 1, "delayMs": 3_000 }))]);
    desk.queue_text("So it is.");
    let events = desk.run_turn(&text_message("Go.")).await;
    assert_eq!(last_state(&events), "completed");
    let (told, task) = (desk.tool_result(1, "c"), dispatched_task(&events, 0));
    assert_eq!((&told["outcome"], &told["taskId"]), (&json!("timeout"), &task["id"]), "{told}");
    let rest = desk.server.agent("ledger").subscribe(&task, Some(0)).await.read_to_end().await;
    assert_eq!(last_state(&rest), "completed");
}

/// Proves D1: a name that models do not accept is changed into one that they accept.
#[tokio::test]
async fn a_workflow_with_a_dotted_name_is_dispatched() {
    let flow = "id: my.small-flow\nname: Small\ndescription: Emits.\nversion: \"1\"\n\
                steps:\n  - id: out\n    emit: { artifact: out.txt, text: \"Here.\" }\n";
    let desk = AgentWorkspace::open(&[("workflows/small.yaml", flow)]).await;
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_my_small-flow", json!({}))]);
    desk.queue_text("Done.");
    let events = desk.run_turn(&text_message("Go.")).await;
    let told = desk.tool_result(1, "c1");
    assert_eq!(told["metadata"]["workflowName"], "my.small-flow", "{told}");
    let task = desk.server.agent("my.small-flow").get_task(&dispatched_task(&events, 0)).await;
    assert_eq!(task["status"]["state"], "completed");
}

/// The model repeats the user's last message, and dispatches it first.
fn echoing(told: &Value) -> ScriptedReply {
    let messages = told["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    match last["role"].as_str() {
        Some("user") => {
            tool_call_reply(&[("c", "dispatch_workflow_echo", json!({ "text": last["content"] }))])
        }
        _ => {
            let said = messages.iter().rfind(|message| message["role"] == "user").unwrap();
            ScriptedModelServer::openai_reply().with_text(said["content"].as_str().unwrap()).into()
        }
    }
}

/// Proves X4: many conversations at once, and several turns of one, do not mix.
#[tokio::test(flavor = "multi_thread")]
async fn many_turns_at_once_do_not_mix() {
    let desk = AgentWorkspace::open(&[]).await;
    desk.model.set_responder(|asked| echoing(&asked.body));
    let mut turns = JoinSet::new();
    for number in 0..24 {
        let front = desk.default_agent();
        turns.spawn(async move {
            let said = format!("number-{number}");
            let message = text_message(&said);
            let message = if number % 2 == 0 { message } else { message.in_context(&json!("shared")) };
            let events = front.stream_message(&message).await;
            assert_eq!((last_state(&events).as_str(), joined_text_response(&events)), ("completed", said));
            dispatched_task(&events, 0)["id"].to_string()
        });
    }
    let mut children = turns.join_all().await;
    children.sort();
    children.dedup();
    assert_eq!(children.len(), 24);
    assert_eq!(desk.model.requests().len(), 48);
}

/// Proves L10: a turn that waits for its user, for a tool, or for the next attempt is canceled like any
/// other.
#[tokio::test]
async fn a_turn_is_canceled_wherever_it_is() {
    let agent = "---\nname: careful\ntools: [ledger_enter, time_now]\n\
                 approvals: { time_now: ask }\n---\n";
    let desk = AgentWorkspace::open(&[("agents/careful.md", agent)]).await;
    let front = desk.default_agent();
    let slow = json!({ "entry": "never", "delayMs": 3_600_000 });
    for call in [("c1", "time_now", json!({})), ("c1", "ledger_enter", slow)] {
        let asked = desk.model.requests().len();
        desk.queue_tool_calls(&[call]);
        let task = front.send(&text_message("Go.")).await.unwrap();
        let mut stream = front.subscribe(&task, Some(0)).await;
        stream.read_until(|event| event["artifact"]["metadata"]["toolCallId"] == "c1").await;
        assert_eq!(front.cancel_task(&task).await.unwrap()["status"]["state"], "canceled");
        assert_eq!(last_state(&stream.read_to_end().await), "canceled");
        assert_eq!(desk.model.requests().len(), asked + 1);
    }
    desk.model.queue_reply(ScriptedReply::error_body(503, "busy").with_header("retry-after", "5"));
    let task = front.send(&text_message("Go.")).await.unwrap();
    desk.model.wait_for_replies_sent(3).await;
    assert_eq!(front.cancel_task(&task).await.unwrap()["status"]["state"], "canceled");
    let events = front.replay(&task).await;
    assert_eq!(last_state(&events), "canceled");
    assert_eq!(desk.model.requests().len(), 3);
    // The history keeps all of it unchanged.
    desk.queue_text("You canceled it.");
    let next = desk.run_turn(&text_message("What happened?").in_context(&task["contextId"])).await;
    assert_eq!(joined_text_response(&next), "You canceled it.");
}
