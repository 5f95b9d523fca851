//! Files that change under a server whose workspace is the current folder, and workspaces elsewhere.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use trackway_testkit::{Latch, ModelServer};

use super::desk::{Desk, serve, spoken, state};
use crate::a2a::support::{Server, soon, text};

async fn described(server: &Server, description: &str) {
    let card = server.url("/.well-known/agent-card.json");
    let changed = async {
        loop {
            let response = server.http().get(&card).send().await.unwrap();
            let card: Value = response.json().await.unwrap();
            if card["description"] == description {
                return;
            }
            // why: the system tells of changed files in its own time, and nothing tells a client.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon("the changed agent", changed).await;
}

/// A turn in flight goes on with the agent that it began with, the
/// next one takes what is written now.
#[tokio::test]
async fn a_turn_in_flight_is_left_alone() {
    let desk =
        Desk::open(&[("agents/helper.md", "---\ndescription: Old.\n---\nThe old way.\n")]).await;
    let latch = Latch::new();
    let calls = [("c1", "dispatch_workflow_echo", r#"{"text":"x"}"#)];
    let first: trackway_testkit::Reply = ModelServer::openai().calls(&calls).into();
    desk.model.queue(first.wait_first(&latch));
    desk.says("The first.");
    desk.says("The second.");
    let task = desk.front().send(&text("Go.")).await.unwrap();
    latch.reached().await;
    let file = desk.server.home().join("agents/helper.md");
    fs::write(file, "---\ndescription: New.\nworkflows: []\n---\nThe new way.\n").unwrap();
    described(&desk.server, "New.").await;
    latch.release();
    let events = desk.front().replay(&task).await;
    assert_eq!((state(&events).as_str(), spoken(&events).as_str()), ("completed", "The first."));
    let next = desk.turn(&text("Again.")).await;
    assert_eq!(spoken(&next), "The second.");
    let prompts: Vec<Value> = (0..3).map(|at| desk.told(at)[0]["content"].clone()).collect();
    assert_eq!(prompts, ["The old way.", "The old way.", "The new way."]);
    let asked = desk.model.asked();
    assert!(asked[2].body.get("tools").is_none_or(|tools| tools == &json!([])), "{asked:#?}");
}

/// The workspace may be named by a variable.
#[tokio::test]
async fn a_workspace_may_be_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir(elsewhere.path().join("agents")).unwrap();
    let file = elsewhere.path().join("agents/far.md");
    fs::write(file, "---\ndescription: Far away.\n---\n").unwrap();
    let env = [("TRACKWAY_WORKSPACE", elsewhere.path().to_str().unwrap())];
    let server = serve(&[("agents/near.md", "---\ndescription: Near.\n---\n")], &env);
    described(&server, "Far away.").await;
}
