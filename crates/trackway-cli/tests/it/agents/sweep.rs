//! A turn with two dispatches and an MCP tool, killed at each of its model calls in turn.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use trackway_testkit::{IdNormalizer, ScriptLatch, ScriptedModelServer, ScriptedReply};

use super::agent_workspace::{
    AgentWorkspace, artifact_ids, joined_text_response, last_state, serve_workspace,
    statuses_with_references, tool_call_reply,
};
use crate::a2a::support::{StreamEvent, text_message};

const AGENT: &str = "---\nname: helper\ntools: [\"shop__*\", ledger_enter]\n---\nYou help.\n";
const STEPS: &str = "id: steps\nname: Steps\ndescription: One step.\nversion: \"1\"\n\
steps:\n  - { id: one, prompt: Do one. }\n";
/// Model calls of the whole turn.
const CALLS: usize = 4;

/// The model's answer, which depends only on its request.
fn answer(told: &Value) -> ScriptedReply {
    let messages = told["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool").count();
    match results {
        0 => tool_call_reply(&[
            ("c1", "dispatch_workflow_echo", json!({ "text": "one" })),
            ("c2", "ledger_enter", json!({ "entry": "tea" })),
        ]),
        2 => tool_call_reply(&[("c3", "shop__workflow_list", json!({}))]),
        3 => tool_call_reply(&[("c4", "dispatch_workflow_review", json!({ "subject": "tea" }))]),
        _ => ScriptedModelServer::openai_reply().with_text("All done.").into(),
    }
}

/// The turn, killed while the model call of that number has no answer; 0 for never. Returns the events and
/// the model's last request, without generated ids.
async fn killed_at(call: usize) -> (Vec<String>, Value) {
    let model = ScriptedModelServer::start().await;
    let latch = ScriptLatch::new();
    let (number, gate) = (AtomicUsize::new(0), latch.clone());
    model.set_responder(move |asked| {
        let reply = answer(&asked.body);
        let is_gated = number.fetch_add(1, Ordering::Relaxed) + 1 == call;
        if is_gated { reply.wait_before_status(&gate) } else { reply }
    });
    let config = json!({ "mcpServers": { "shop": {
        "command": env!("CARGO_BIN_EXE_trackway"), "args": ["mcp", "--workflows", "steps"],
        "env": { "TRACKWAY_DATA": "other-data" },
    } } })
    .to_string();
    let files = [("mcp.json", &*config), ("agents/helper.md", AGENT), ("steps/steps.yaml", STEPS)];
    let url = model.base_url();
    let env = [("OPENAI_BASE_URL", url.as_str()), ("TRACKWAY_MODEL", "openai/small")];
    let mut desk = AgentWorkspace { server: serve_workspace(&files, &env), model };
    let task = desk.default_agent().send(&text_message("Go.")).await.unwrap();
    if call > 0 {
        desk.model.wait_for_requests(call).await;
        latch.wait_until_reached().await;
        desk.server.crash();
    }
    let events = desk.default_agent().replay(&task).await;
    check(&desk, &events, if call > 0 { CALLS + 1 } else { CALLS });
    let asked = desk.model.requests();
    if call > 0 {
        assert_eq!(asked[call - 1].body, asked[call].body, "the same is asked again");
    }
    assert!(desk.tool_result(asked.len() - 1, "c3")["workflows"].is_array(), "the server was there");
    let told = IdNormalizer::new().normalize(&asked.last().unwrap().body["messages"]);
    // Calls of one answer run in parallel, so their order in the stream is random.
    let mut shown = artifact_ids(&events);
    shown.sort();
    (shown, told)
}

fn check(desk: &AgentWorkspace, events: &[StreamEvent], calls: usize) {
    assert_eq!(
        (last_state(events).as_str(), joined_text_response(events).as_str()),
        ("completed", "All done.")
    );
    assert_eq!(desk.model.requests().len(), calls, "what was answered is not asked again");
    assert_eq!(statuses_with_references(events).len(), 2, "each dispatch is told once");
    let ledger = fs::read_to_string(desk.server.data_path().join("ledger.txt")).unwrap();
    assert_eq!(ledger.lines().count(), 1, "{ledger}");
}

/// Proves L13, X4: at whatever call it is killed, the turn takes the same steps to the same end.
#[tokio::test]
async fn a_turn_that_is_killed_anywhere_has_the_same_history() {
    let undisturbed = killed_at(0).await;
    for call in 1..=CALLS {
        let (shown, mut told) = killed_at(call).await;
        // The tool's result names the attempt, whose id is derived from the run's.
        let same = undisturbed.1.as_array().unwrap();
        for (one, other) in told.as_array_mut().unwrap().iter_mut().zip(same) {
            if one["tool_call_id"] == "c2" {
                *one = other.clone();
            }
        }
        assert_eq!((shown, told), undisturbed, "killed at model call {call}");
    }
}
