//! Files that change under a server whose workspace is the current folder, and workspaces elsewhere.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use trackway_testkit::{ScriptLatch, ScriptedModelServer};

use super::agent_workspace::{AgentWorkspace, joined_text_response, last_state, serve_workspace};
use crate::a2a::support::{CrashableServer, text_message, with_test_timeout};

async fn described(server: &CrashableServer, description: &str) {
    let card = server.url("/.well-known/agent-card.json");
    let changed = async {
        loop {
            let response = server.http().get(&card).send().await.unwrap();
            let card: Value = response.json().await.unwrap();
            if card["description"] == description {
                return;
            }
            // why: the system reports changed files in its own time, and a client gets no signal.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    with_test_timeout("the changed agent", changed).await;
}

/// A turn in flight continues with the agent that it began with; the next one uses the current file.
#[tokio::test]
async fn a_turn_in_flight_is_left_alone() {
    let desk =
        AgentWorkspace::open(&[("agents/helper.md", "---\ndescription: Old.\n---\nThe old way.\n")]).await;
    let latch = ScriptLatch::new();
    let calls = [("c1", "dispatch_workflow_echo", r#"{"text":"x"}"#)];
    let first: trackway_testkit::ScriptedReply =
        ScriptedModelServer::openai_reply().with_tool_calls(&calls).into();
    desk.model.queue_reply(first.wait_before_status(&latch));
    desk.queue_text("The first.");
    desk.queue_text("The second.");
    let task = desk.default_agent().send(&text_message("Go.")).await.unwrap();
    latch.wait_until_reached().await;
    let file = desk.server.workspace_path().join("agents/helper.md");
    fs::write(file, "---\ndescription: New.\nworkflows: []\n---\nThe new way.\n").unwrap();
    described(&desk.server, "New.").await;
    latch.release();
    let events = desk.default_agent().replay(&task).await;
    assert_eq!(
        (last_state(&events).as_str(), joined_text_response(&events).as_str()),
        ("completed", "The first.")
    );
    let next = desk.run_turn(&text_message("Again.")).await;
    assert_eq!(joined_text_response(&next), "The second.");
    let prompts: Vec<Value> = (0..3).map(|at| desk.model_messages(at)[0]["content"].clone()).collect();
    assert_eq!(prompts, ["The old way.", "The old way.", "The new way."]);
    let asked = desk.model.requests();
    assert!(asked[2].body.get("tools").is_none_or(|tools| tools == &json!([])), "{asked:#?}");
}

/// A variable may name the workspace.
#[tokio::test]
async fn a_workspace_may_be_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir(elsewhere.path().join("agents")).unwrap();
    let file = elsewhere.path().join("agents/far.md");
    fs::write(file, "---\ndescription: Far away.\n---\n").unwrap();
    let env = [("TRACKWAY_WORKSPACE", elsewhere.path().to_str().unwrap())];
    let server = serve_workspace(&[("agents/near.md", "---\ndescription: Near.\n---\n")], &env);
    described(&server, "Far away.").await;
}
